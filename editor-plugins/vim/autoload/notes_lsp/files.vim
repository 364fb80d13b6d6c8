vim9script
# Working files: which file is which note, and opening one.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/screens.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/workingfile.vim'

# {uri, id} by path, for files that are opened without a command of this plugin.
var known: dict<dict<string>> = {}
# The service's list of notes outside the notes directory, and what identifies its version.
var elsewhere: dict<bool> = {}
var elsewhereStamp: list<number> = []
var hasBeenReady = false

export def Know(path: string, uri: string, id: string)
  known[Canonical(path)] = {uri: uri, id: id}
enddef

# A file is no longer a note's.
export def Forget(path: string)
  const canonical = Canonical(path)
  if known->has_key(canonical)
    known->remove(canonical)
  endif
enddef

# Learns from an answer to notes/list.
export def KnowAll(notes: list<any>)
  for note in notes
    for place in [note] + note->get('items', [])
      if place->get('path', '') != '' && place->get('uri', '') != ''
        Know(place.path, place.uri, note.id)
      endif
    endfor
  endfor
enddef

def Canonical(path: string): string
  return path->fnamemodify(':p')->resolve()->simplify()
enddef

export def URI(path: string): string
  const full = path->fnamemodify(':p')
  # Byte for byte: a pattern would skip the marks that are combined with a letter.
  return 'file://' .. range(len(full))->mapnew((_, index) => Escaped(full->strpart(index, 1)))->join('')
enddef

def Escaped(byte: string): string
  return byte =~ '^[A-Za-z0-9/._~-]$' ? byte : printf('%%%02X', char2nr(byte))
enddef

export def Absolute(path: string): string
  return path->expand()->fnamemodify(':p')->substitute('\(.\)/$', '\1', '')
enddef

# Why a buffer cannot become a note; '' if it can.
export def WhyNoNote(bufnr: number): string
  if getbufvar(bufnr, '&buftype') != ''
    return 'Only regular files can be notes'
  elseif bufname(bufnr) == ''
    return ':w {file} first: this buffer has no name yet'
  endif
  const lines = getbufline(bufnr, 1, '$')
  return text.HasNul(lines) ? 'The file has NUL bytes, so it cannot be a note'
    : getbufvar(bufnr, '&binary') || !text.IsSendable(lines->join('')) ? 'Not UTF-8: :set fenc=utf-8, :w, retry' : ''
enddef

# Opens what notes/open, notes/create or notes/join has answered: {id, uri, path}.
export def Open(result: dict<any>)
  if result->has_key('folder') && empty(result->get('items', []))
    screens.AgendaOf({id: result.id})
    return
  endif
  KnowAll([result])
  if mode() !=# 'n'
    stopinsert
  endif
  LeaveList()
  const bufnr = bufnr($'^{escape(fnamemodify(result.path, ":p"), "\\*?[]{},$~")}$')
  const window = bufnr > 0 ? bufwinid(bufnr) : -1
  if window > 0
    win_gotoid(window)
  elseif bufnr() != bufnr || bufnr < 0
    const verb = &modified && !&hidden ? 'split' : 'edit'
    # With a long path and the user's 'shortmess', Vim's message about a file may be a prompt that swallows keys.
    execute $'silent noswapfile {verb} {fnameescape(result.path)}'
  endif
  # Reading the file has attached it already, unless it was open before the service knew it. An autocommand may have gone to
  # another buffer since.
  const opened = Loaded(result.path)
  if opened == 0
    status.Warn($'{fnamemodify(result.path, ":t")} was not opened')
    return
  endif
  condition.OnOpened(buffer.Attach(opened, result.uri, result.id), result)
enddef

# The loaded buffer of a file; 0 if there is none.
def Loaded(path: string): number
  const canonical = Canonical(path)
  return getbufinfo({bufloaded: 1})->filter((_, it) => it.name != '' && Canonical(it.name) ==# canonical)->get(0, {bufnr: 0}).bufnr
enddef

# From a list, a note opens in the window that was current before the list.
def LeaveList()
  const previous = winnr('#')
  if &buftype ==# 'nofile' && previous > 0 && getbufvar(winbufnr(previous), '&buftype') == ''
    wincmd p
  endif
enddef

# A file was read: attaches it if it is a note. Asks the service only about files in the notes directory. For others it
# reads the service's list, when that has changed. Calls `Otherwise` if it is none.
export def OnRead(bufnr: number, Otherwise: func = () => 0)
  if getbufvar(bufnr, '&buftype') != '' || bufname(bufnr) == ''
    return
  endif
  const path = Canonical(bufname(bufnr))
  if !empty(buffer.Of(bufnr)) || IsWhereNotesLive(path)
    # Vim reads modelines after this, also those of a recovered text.
    setbufvar(bufnr, '&modeline', false)
  endif
  if !empty(buffer.Of(bufnr))
    return
  elseif known->has_key(path) && service.State() !=# 'stopped'
    AttachRead(bufnr, known[path])
  elseif IsWhereNotesLive(path)
    service.Request('notes/list', {file: path}, (answer) => {
      KnowAll(answer->get('result', {})->get('notes', []))
      if known->has_key(path) && bufloaded(bufnr)
        AttachRead(bufnr, known[path])
      else
        Otherwise()
      endif
    })
  else
    Otherwise()
  endif
enddef

# A note has a file now. A buffer that showed the file before, as a plain one, becomes the note.
export def OnPlaced(event: dict<any>)
  if ['created', 'renamed', 'restored']->index(event->get('kind', '')) < 0 || event->get('path', '') == ''
    return
  endif
  Know(event.path, event.uri, event.id)
  const bufnr = Loaded(event.path)
  if bufnr > 0 && empty(buffer.Of(bufnr)) && WhyNoNote(bufnr) == ''
    setbufvar(bufnr, '&modeline', false)
    AttachRead(bufnr, known[Canonical(event.path)])
  endif
enddef

# The service is running again: a file on the screen may have become a note in the meantime.
export def OnServiceReady()
  if hasBeenReady
    for info in getbufinfo({bufloaded: 1})
      if info.name != '' && empty(buffer.Of(info.bufnr)) && IsWhereNotesLive(Canonical(info.name))
        OnRead(info.bufnr)
      endif
    endfor
  endif
  hasBeenReady = true
enddef

def IsWhereNotesLive(path: string): bool
  return known->has_key(path) || path->stridx(NotesDirectory() .. '/') == 0 || Elsewhere()->has_key(path)
enddef

def AttachRead(bufnr: number, place: dict<string>)
  if empty(buffer.Of(bufnr))
    final note = buffer.Attach(bufnr, place.uri, place.id)
    note.fileStamp = getbufvar(bufnr, '&modified') ? [] : workingfile.Stamp(note.path)
  endif
enddef

# If the user chose that, others see this user on the network even when no note is open: the service keeps a file that says so.
export def BeSeen(_: number)
  if filereadable(NotesDirectory() .. '/.seen')
    service.Start()
  endif
enddef

# The files outside the notes directory that are notes. The service keeps the list, a line each.
def Elsewhere(): dict<bool>
  const list = NotesDirectory() .. '/.elsewhere'
  const stamp = workingfile.Stamp(list)
  if stamp != elsewhereStamp
    elsewhereStamp = stamp
    elsewhere = {}
    for line in filereadable(list) ? readfile(list) : []
      const path = line->matchstr(' \zs.*')
      if path != ''
        elsewhere[Canonical(path)] = true
      endif
    endfor
  endif
  return elsewhere
enddef

def NotesDirectory(): string
  const command = g:->get('notes_lsp_command', [])
  const option = command->index('--notes')
  const set = g:->get('notes_lsp_dir', option >= 0 ? command->get(option + 1, '') : $NOTES_DIR)
  return Canonical(set != '' ? set : '~/Notes')->substitute('/\+$', '', '')
enddef
