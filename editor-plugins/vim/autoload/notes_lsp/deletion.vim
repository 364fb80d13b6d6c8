vim9script
# Deleting notes, restoring them, and deleting them permanently.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

# Deletes the note, or the item, of a row of a list.
export def DeleteNote(row: dict<any>)
  const question = row->has_key('item') ? $'Delete item "{row.title}" for everyone?' : $'Delete "{row.title}"? Others keep theirs.'
  if status.Confirm(question, "&Delete\n&Keep", 2) == 1
    service.Request('notes/delete', commands.Reference(row), commands.Then(nearby.Told))
  endif
enddef

# Deletes a deleted note and its history permanently.
export def PurgeNote(row: dict<any>)
  if status.Confirm($'Delete "{row.title}" and its history for good?', "&Delete\n&Keep", 2) == 1
    service.Request('notes/purge', {id: row.id}, commands.Then((_) => {
      view.Refresh()
      status.Say($'"{row.title}" is gone for good')
    }))
  endif
enddef

# Lets the user choose among the deleted notes; with a title, the one deleted last.
export def Purge(title: string)
  WithDeleted(title, ' Delete for good ', PurgeNote)
enddef

# Lets the user choose among the deleted notes; with a title, takes the one that was deleted last.
export def Undelete(title: string)
  WithDeleted(title, ' Restore ', (note) => Restore(note.id))
enddef

def WithDeleted(title: string, heading: string, Do: func)
  service.Request('notes/list', {deleted: true}, commands.Then((result) => {
    const notes = result->get('notes', [])->copy()->filter((_, it) => title == '' || it.title ==# title)
    if empty(notes)
      status.Warn(title == '' ? 'No deleted notes' : $'No deleted note is called "{title}"')
    elseif title != ''
      Do(notes[0])
    else
      nearby.Choose(heading, notes, (it) => it.title, Do)
    endif
  }))
enddef

export def Restore(id: string)
  const Open = arrival.Opener()
  service.Request('notes/undelete', {id: id}, commands.Then((result) => {
    Open(result)
    view.Refresh()
  }))
enddef
