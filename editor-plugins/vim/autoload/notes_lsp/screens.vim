vim9script
# The lists of notes, of people and of agenda items, and what their keys do.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/deletion.vim'
import autoload 'notes_lsp/exchange.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/going.vim'
import autoload 'notes_lsp/history.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

var order = 'changed'

# The list of notes: the user's own, and those that others share.
export def Notes()
  view.Show('[Notes]', 'notes/list', {order: order})
  view.Map('<CR>', 'open', 'id', (row) => Open(row))
  view.Map('o', 'open in another window', 'id', (row) => Open(row, true))
  view.Map('+', 'new note', '', (_) => commands.CarryOut('NotesNew', ''))
  view.Map('%', '', '', (_) => commands.CarryOut('NotesNew', ''))
  view.Map('M', 'new meeting', '', (_) => commands.CarryOut('NotesMeeting', ''))
  view.Map('R', 'rename', 'id', (row) => commands.CarryOut('NotesRename', '', row))
  view.Map('D', 'delete; others keep theirs', 'id', (row) => deletion.DeleteNote(row))
  view.Map('U', 'list deleted notes', '', (_) => Deleted())
  view.Map('S', 'share: a ticket to send', 'id', (row) => commands.ShareNote({id: row.id}))
  view.Map('J', 'join with a ticket', '', (_) => commands.Join(status.Ask('Ticket or words: ')))
  view.Map('P', 'people of the note', 'id', (row) => PeopleOf({id: row.id}))
  view.Map('H', 'history', 'id', (row) => history.Of({id: row.id}, row.title))
  view.Map('F', 'find words in all notes', '', (_) => exchange.Find(status.Ask('Find: ')))
  view.Map('s', 'sort by title, or by time', '', (_) => Sort())
enddef

def Sort()
  order = order ==# 'changed' ? 'title' : 'changed'
  Notes()
  status.Say(order ==# 'title' ? 'Sorted by title' : 'Sorted by time, newest first')
enddef

# A meeting opens as its agenda.
def Open(row: dict<any>, isElsewhere = false)
  if row->get('kind', '') ==# 'meeting'
    AgendaOf({id: row.id})
    return
  endif
  service.Request('notes/open', {id: row.id}, commands.Then(arrival.Opener((result) => {
    if isElsewhere
      const window = win_getid()
      aboveleft split
      files.Open(result)
      win_gotoid(window)
    else
      files.Open(result)
    endif
    view.Refresh()
  })))
enddef

# The deleted notes: restoring them, and deleting them permanently.
export def Deleted()
  view.Show('[Deleted notes]', 'notes/list', {deleted: true})
  view.Map('<CR>', 'restore and open', 'id', (row) => deletion.Restore(row.id))
  view.Map('U', 'restore and open', 'id', (row) => deletion.Restore(row.id))
  view.Map('D', 'delete for good', 'id', (row) => deletion.PurgeNote(row))
enddef

# The people of the current note, or of the one that a list is about.
export def People()
  const note = buffer.Of(bufnr())
  if view.NoteId() != ''
    PeopleOf({id: view.NoteId()})
  elseif empty(note) || note.id == ''
    status.Warn('Not a note. :NotesPeers lists all people')
  else
    PeopleOf({id: note.id})
  endif
enddef

export def PeopleOf(target: dict<any>)
  view.Show('[Notes people]', 'notes/people', target)
  view.Map('<CR>', 'go to their caret', 'peer', (row) => {
    list.Close()
    going.Go(row.name)
  })
  view.Map('i', 'invite', 'peer', (row) => nearby.InviteTo(target, row))
  view.Map('a', 'change access', 'peer', (row) => nearby.ChooseAccess(target, row))
  view.Map('D', 'remove from the note', 'peer', (row) => commands.RemovePerson(target, row.peer))
  view.Map('v', 'verify: compare digits', 'peer', (row) => nearby.Verify(row.peer))
  view.Map('B', 'trust, block or forget', 'peer', (row) => nearby.ChooseTrust(row))
  view.Map('S', 'share: a ticket to send', '', (_) => commands.ShareNote(target))
enddef

# All people that the service knows or hears.
export def Peers()
  view.Show('[Notes peers]', 'notes/peers', {})
  view.Map('v', 'verify: compare digits', 'peer', (row) => nearby.Verify(row.peer))
  view.Map('B', 'trust, block or forget', 'peer', (row) => nearby.ChooseTrust(row))
enddef

# The agenda of the current buffer's meeting.
export def Agenda()
  const note = buffer.Of(bufnr())
  if view.NoteId() != ''
    AgendaOf({id: view.NoteId()})
  elseif empty(note) || note.id == ''
    status.Warn('Not a note. :NotesMeeting makes a meeting')
  else
    AgendaOf({id: note.id})
  endif
enddef

export def AgendaOf(target: dict<any>, name = '[Notes agenda]')
  view.Show(name, 'notes/items', target)
  view.Map('<CR>', 'open the item', 'item', (row) => OpenItem(row))
  view.Map('+', 'new item', '', (_) => commands.CarryOut('NotesItem', '', target))
  view.Map('R', 'rename the item, or the meeting', 'id', (row) => commands.CarryOut('NotesRename', '', row))
  view.Map('D', 'delete the item, or the meeting', 'id', (row) => deletion.DeleteNote(row))
  view.Map('J', 'move down', 'item', (row) => Move(row, 1))
  view.Map('K', 'move up', 'item', (row) => Move(row, -1))
  view.Map('d', 'what others changed since you closed it', 'item', (row) => history.DiffOf({id: row.id, item: row.item}))
  view.Map('P', 'people of the meeting', '', (_) => PeopleOf(target))
  view.Map('S', 'share: a ticket to send', '', (_) => commands.ShareNote(target))
enddef

def OpenItem(row: dict<any>)
  service.Request('notes/open', {id: row.id, item: row.item}, commands.Then(arrival.Opener()))
enddef

# The first row is the meeting.
def Move(row: dict<any>, step: number)
  const place = line('.') - 2 + step
  if place < 0
    return
  endif
  service.Request('notes/moveItem', {id: row.id, item: row.item, position: place}, commands.Then((_) => view.Refresh()))
enddef
