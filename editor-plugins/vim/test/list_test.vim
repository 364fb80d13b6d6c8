vim9script
# Scratch windows, and where the user is when they are closed.

import autoload 'notes_lsp/list.vim'
import './verdict.vim'

def AListThatWasOpenedInAListLeadsBackThere()
  new
  const note = win_getid()
  list.Show('[First]', ['one'])
  const first = win_getid()
  list.Show('[Second]', ['two'])
  list.Close()
  assert_equal(first, win_getid(), 'the list')
  list.Close()
  assert_equal(note, win_getid(), 'the note')
enddef

def WhereTheListIsGoneItLeadsBackToTheNote()
  new
  const note = win_getid()
  list.Show('[First]', ['one'])
  const first = win_getid()
  list.Show('[Second]', ['two'])
  win_execute(first, 'close')
  list.Close()
  assert_equal(note, win_getid())
enddef

def AListThatIsShownAgainLeadsBackToWhereItWasLastShownFrom()
  new
  list.Show('[First]', ['one'])
  new
  const other = win_getid()
  list.Show('[First]', ['two'])
  list.Show('[First]', ['three'])
  assert_equal(['three'], getline(1, '$'))
  list.Close()
  assert_equal(other, win_getid())
enddef

verdict.Run([
  ['AListThatWasOpenedInAListLeadsBackThere', AListThatWasOpenedInAListLeadsBackThere],
  ['WhereTheListIsGoneItLeadsBackToTheNote', WhereTheListIsGoneItLeadsBackToTheNote],
  ['AListThatIsShownAgainLeadsBackToWhereItWasLastShownFrom', AListThatIsShownAgainLeadsBackToWhereItWasLastShownFrom],
])
