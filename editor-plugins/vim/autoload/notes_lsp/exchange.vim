vim9script
# Notes in and out of files, meetings with their items, and searching in all notes.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/screens.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/textchoice.vim'
import autoload 'notes_lsp/view.vim'

const formats = ['markdown', 'automerge', 'automerge-repo', 'json', 'meetingnotes']

# The file's ending says what it is: .automerge, .meetingnotes, .md, .json; a directory is one of automerge-repo. Where the
# name says nothing, the user chooses.
export def Export(path: string, isForced: bool)
  final note = commands.Current()
  if empty(note)
    return
  endif
  final params: dict<any> = {uri: note.uri, path: files.Absolute(path), replace: isForced ? true : false}
  if isdirectory(params.path) || path =~ '/$'
    params.format = 'automerge-repo'
  elseif params.path !~? '\.\(automerge\|meetingnotes\|md\|markdown\|txt\|json\)$'
    nearby.Choose($' Export {fnamemodify(params.path, ":t")} as ', formats, (it) => it, (format) => Send(params->extend({format: format})))
    return
  endif
  Send(params)
enddef

def Send(params: dict<any>)
  service.Request('notes/export', params, (answer) => {
    const name = fnamemodify(params.path, ':t')
    if answer->has_key('error') && answer.error->get('data', {})->get('kind', '') ==# 'conflict'
      status.Warn($':NotesExport! replaces {name}, which exists already')
    else
      commands.Then((result) => status.Say($'Exported to {fnamemodify(result.path, ":~:.")}'))(answer)
    endif
  })
enddef

export def Import(path: string)
  status.Say('Importing…')
  const Open = arrival.Opener()
  Ask('notes/import', {path: files.Absolute(path)}, (result) => {
    Open(result)
    view.Refresh()
    status.Say(result->get('message', ''))
    for one in result->get('failed', [])
      status.Log($'{one.path}: {one.message}')
    endfor
    status.Warn(result->get('warning', ''))
  })
enddef

# A file that holds a whole document, as MeetingNotes saves it, is read or written in the current buffer, which shows its agenda.
# The service keeps the file and the note equal.
export def OpenFile(path: string)
  const bufnr = bufnr()
  setlocal buftype=acwrite noswapfile nomodifiable nowrap cursorline nospell
  autocmd! BufWriteCmd <buffer> call notes_lsp#exchange#SaveFile(expand('<afile>:p'))
  if !filereadable(path)
    status.Say($'{fnamemodify(path, ":t")} is new: :write makes a meeting in it')
    return
  endif
  const Open = arrival.Opener()
  Ask('notes/open', {path: path}, (result) => {
    if bufnr() != bufnr
      status.Say($'Opened {fnamemodify(path, ":t")}')
    elseif result->has_key('folder')
      screens.AgendaOf({id: result.id}, fnamemodify(path, ':t'))
    else
      Open(result)
    endif
  })
enddef

# Creates the file with a new meeting if it does not exist yet.
export def SaveFile(path: string)
  const isNew = !filereadable(path)
  const bufnr = bufnr()
  service.Request('notes/open', {path: path, create: true}, commands.Then((result) => {
    setbufvar(bufnr, '&modified', false)
    status.Say($'Saved {fnamemodify(path, ":t")}')
    if isNew && bufnr() == bufnr && result->has_key('folder')
      screens.AgendaOf({id: result.id}, fnamemodify(path, ':t'))
    endif
  }))
enddef

# The user chooses which text of a document of another program to edit.
def Ask(method: string, params: dict<any>, Do: func)
  const Take = commands.Then(Do)
  service.Request(method, params, (answer) => {
    if textchoice.IsAsked(answer)
      gate.WhenSafe(() => textchoice.Show(answer, (path: string) => Ask(method, params->extendnew({text: path}), Do)))
    else
      Take(answer)
    endif
  })
enddef

# Lists the notes with all these words, in the quickfix list.
export def Find(words: string)
  const Open = arrival.Opener((_) => execute('copen'), 'What was found')
  service.Request('notes/list', {query: words}, commands.Then((result) => {
    const notes = result->get('notes', [])
    files.KnowAll(notes)
    final found: list<dict<any>> = []
    for note in notes
      const match = note->get('match', {})
      if !empty(match)
        found->add({filename: match.path, lnum: match.line + 1, text: $'{note.title}: {match.text}'})
      elseif note->get('path', '') != ''
        found->add({filename: note.path, lnum: 1, text: note.title})
      endif
    endfor
    if empty(found)
      status.Say($'No note contains "{words}"')
      return
    endif
    setqflist([], ' ', {title: $'Notes with {words}', items: found})
    Open({})
  }))
enddef

# Puts the current buffer's item at this place of the agenda, counted from 1.
export def MoveItem(place: string)
  final note = commands.Current()
  if empty(note)
    return
  elseif place !~# '^[1-9]\d*$'
    status.Warn(':NotesMoveItem 2 moves it to the second place')
    return
  endif
  service.Request('notes/moveItem', {uri: note.uri, position: str2nr(place) - 1}, commands.Then((result) => status.Say(result->get('message', ''))))
enddef
