vim9script
# Deleting notes, restoring them, and deleting them permanently.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

# Deletes the note, or the item, of a row of a list.
export def DeleteNote(row: dict<any>)
  const question = row->has_key('item') ? $'Delete item "{row.title}" for everyone?' : $'Delete "{row.title}"? Others keep theirs.'
  if status.Confirm(question, "&Delete\n&Keep", 2) == 1
    service.Request('notes/delete', commands.Reference(row), commands.Then((_) => {
      view.Refresh()
      status.Say(row->has_key('item') ? $'Deleted item "{row.title}"' : 'Deleted. :NotesUndelete restores it for 30 days')
    }))
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

# `isForEveryone`: also for those with whom the note is shared; each of them can bring it back.
export def Delete(isSure: bool, isForEveryone = false)
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.NotANote()
    return
  endif
  const question = isForEveryone ? 'Delete for everyone who has it?' : 'Delete your copy? Others keep theirs.'
  if !isSure && status.Confirm(question, "&Delete\n&Keep", 2) != 1
    return
  endif
  service.Request('notes/delete', {uri: note.uri, forEveryone: isForEveryone ? true : false}, commands.Then((_) => {
    # The service may have said so already.
    if buffer.Of(note.bufnr) is note
      condition.Leave(note, isForEveryone ? 'deletedForEveryone' : 'deleted')
      status.Say($'Deleted{isForEveryone ? " for everyone" : ""}. :NotesUndelete restores it for 30 days')
    endif
    view.Refresh()
  }))
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
      final options = {title: heading, callback: (_, choice) => {
        if choice > 0
          Do(notes[choice - 1])
        endif
      }}
      gate.WhenIdle(() => popup_menu(notes->mapnew((_, it) => it.title), options))
    endif
  }))
enddef

export def Restore(id: string)
  service.Request('notes/undelete', {id: id}, commands.Then((result) => {
    files.Open(result)
    view.Refresh()
  }))
enddef
