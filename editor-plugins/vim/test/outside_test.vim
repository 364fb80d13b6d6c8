vim9script
# What comes from outside while the user is at work: it neither takes their keys nor moves them nor makes others' words theirs.
# With a service that a test commands.

import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/files.vim'
import './fake.vim'
import './verdict.vim'

const [Wait, Told, WaitTold, Say, Note] = [fake.Wait, fake.Told, fake.WaitTold, fake.Say, fake.Note]

# Ben's caret.
def Peers(line: number): list<dict<any>>
  const place = {line: line, character: 0}
  return [{peer: 'b', name: 'Ben', color: 1, letter: 'B', ranges: [{start: place, end: place}]}]
enddef

def OpenSidebar()
  vnew
  setlocal buftype=nofile
  setline(1, 'of the sidebar')
enddef

def AnotherBufferThatAnAutocommandOpensIsNotTheNote()
  const note = Note('Sidebar', ['one'])
  silent write
  bwipeout!
  WaitTold('textDocument/didClose', 1)
  const count = len(Told('textDocument/didOpen'))
  autocmd BufReadPost Sidebar.md ++once OpenSidebar()
  files.Open({id: note.id, uri: note.uri, path: note.path})
  assert_equal('of the sidebar', getline(1))
  assert_equal({}, buffer.Of(bufnr()))
  assert_equal(note.id, buffer.WithURI(note.uri).id)
  WaitTold('textDocument/didOpen', count + 1)
  pending.Ask('notes/list', {})
  assert_equal("one\n", Told('textDocument/didOpen')[count :]->mapnew((_, it) => it.textDocument.text)->join('|'))
  bwipeout!
enddef

verdict.Run([
  ['AnotherBufferThatAnAutocommandOpensIsNotTheNote', AnotherBufferThatAnAutocommandOpensIsNotTheNote],
])
