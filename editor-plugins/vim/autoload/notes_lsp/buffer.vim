vim9script
# Buffers that are notes: how they become notes and stop being notes, and what Vim reports about them.
#
# Vim's own change reports are only hints: they come late, merged, and not at all for :edit!. sync.vim finds out what
# has changed.

import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/undo.vim'
import autoload 'notes_lsp/unsent.vim'
import autoload 'notes_lsp/workingfile.vim'

# Note by buffer number. A note: {bufnr, id, uri, path, version, rev, shadow, bytes, queue, tick, isOpen, wasOpen, …}.
var notes: dict<dict<any>> = {}
# The highest version of a note that was closed. The next one starts above it: what comes late for one is not taken for the other's.
var lastVersion = 0

export def All(): list<dict<any>>
  return notes->values()
enddef

export def Of(bufnr: number): dict<any>
  return notes->get(bufnr, {})
enddef

export def WithURI(uri: string): dict<any>
  return notes->values()->filter((_, note) => note.uri ==# uri)->get(0, {})
enddef

# Makes a loaded buffer a note that the service looks after.
export def Attach(bufnr: number, uri: string, id: string): dict<any>
  if notes->has_key(bufnr)
    notes[bufnr].id = id != '' ? id : notes[bufnr].id
    Publish(notes[bufnr])
    return notes[bufnr]
  endif
  # One that was wiped out is else closed a moment later, when this one is open.
  const former = WithURI(uri)
  if !empty(former) && !bufloaded(former.bufnr)
    Detach(former.bufnr)
  endif
  final note = {
    bufnr: bufnr, id: id, uri: uri, path: fnamemodify(bufname(bufnr), ':p'), version: lastVersion + 1, rev: 0,
    shadow: [''], bytes: 0, queue: [], tick: 0, hint: {}, timer: 0, isOpen: false, wasOpen: false, had: [], lastSeen: 0,
    peers: [], lateCarets: {}, awaitsUndo: false, listener: listener_add(OnChange, bufnr), info: {}, fileStamp: [], fileHash: '', isFileNews: false,
    read: 0, kept: 0, unread: [], isLate: false, place: {},
  }
  notes[bufnr] = note
  condition.OnAttach(note)
  SetOptions(bufnr)
  SetAutocommands(bufnr)
  undo.Map(bufnr)
  OpenAsRead(note)
  return note
enddef

# The service does undo, because Vim's own would remove other people's words. While it runs it also stores the note, so a
# swap file would only cause prompts, as does one of another Vim that has the note.
def SetOptions(bufnr: number)
  const [hasSwap, shortmess] = [&g:swapfile && !service.IsReady() && v:exiting == v:null, &shortmess]
  set shortmess+=A
  # What another program writes arrives as an edit, which keeps cursor and marks. Others write the text: it sets no options.
  for [option, value] in {swapfile: hasSwap, undofile: false, undolevels: -1, autoread: false, modeline: false}->items()
    setbufvar(bufnr, $'&{option}', value)
  endfor
  &shortmess = shortmess
  # :bdelete has removed it.
  setbufvar(bufnr, 'notes_lsp', notes[bufnr].info)
enddef

def SetAutocommands(bufnr: number)
  augroup notes_lsp_buffer
    execute $'autocmd! * <buffer={bufnr}>'
    execute $'autocmd TextChanged,TextChangedI,TextChangedP <buffer={bufnr}> OnHint({bufnr})'
    execute $'autocmd BufReadPost,FileChangedShellPost <buffer={bufnr}> OnReload({bufnr})'
    workingfile.SetAutocommands(notes[bufnr])
    execute $'autocmd BufFilePost <buffer={bufnr}> OnRenamed({bufnr})'
    execute $'autocmd BufUnload <buffer={bufnr}> OnUnload({bufnr})'
    execute $'autocmd CursorMoved,CursorMovedI,ModeChanged,BufEnter <buffer={bufnr}> OnCursor({bufnr})'
  augroup END
enddef

# Forgets a buffer that is no longer a note. May be called twice.
export def Detach(bufnr: number)
  if !notes->has_key(bufnr)
    return
  endif
  final note = notes->remove(bufnr)
  lastVersion = max([lastVersion, note.version])
  timer_stop(note.timer)
  condition.OnDetach(note)
  presence.Clear(note)
  workingfile.RemoveAutocommands(note)
  if note.isOpen && empty(WithURI(note.uri))
    service.Notify('textDocument/didClose', {textDocument: {uri: note.uri}})
  endif
  if bufexists(bufnr)
    listener_remove(note.listener)
    execute $'autocmd! notes_lsp_buffer * <buffer={bufnr}>'
    undo.Unmap(bufnr)
    setbufvar(bufnr, 'notes_lsp', {})
    for option in ['undolevels', 'swapfile', 'autoread', 'modeline']
      setbufvar(bufnr, $'&{option}', eval($'&g:{option}'))
    endfor
  endif
enddef

# How many services a buffer remembers: the last one may have ended before it had merged the buffer.
const rememberedServices = 4

# Shows a buffer to the service: first as a file that was opened, later as a buffer that outlived a service. From what the
# buffer had from earlier services, the new one concludes which words are new.
def SendOpen(note: dict<any>)
  if !service.IsReady()
    return
  endif
  final params = {textDocument: {
    uri: note.uri, languageId: getbufvar(note.bufnr, '&filetype') ?? 'text', version: note.version,
    text: text.Joined(note.shadow),
  }}
  if note.wasOpen && !empty(note.had)
    if note.rev > 0
      note.had[0].rev = note.rev
    endif
    params.notes = {reattach: true, run: note.had[0].run, had: note.had}
    if note.opened != v:null
      params.notes.opened = note.opened
    endif
  elseif note.wasOpen
    params.notes = {reattach: true}
  elseif note.opened != v:null && note.opened !=# params.textDocument.text
    params.notes = {reattach: true, opened: note.opened}
  elseif note.id != ''
    params.notes = {id: note.id}
  endif
  note->extend({rev: 0, lastSeen: 0, queue: [], lateCarets: {}})
  if !note.wasOpen && note.opened == v:null
    # Kept until the service reports on the buffer: a service that ends before then has stored none of it.
    note.opened = params.textDocument.text
  endif
  note.isOpen = service.Notify('textDocument/didOpen', params)
  note.wasOpen = note.wasOpen || note.isOpen
  const run = service.Run()
  if run !=# '' && note.isOpen
    note.had = [{run: run, version: note.version, rev: 0}]->extend(note.had)->slice(0, rememberedServices)
  endif
  Publish(note)
enddef

# The service has started (again): shows it every note as it is now.
export def OnServiceReady()
  for note in notes->values()
    SetOptions(note.bufnr)
    sync.Flush(note, true)
    note.version += 1
    SendOpen(note)
    presence.SendSoon(note)
  endfor
enddef

export def OnServiceGone()
  for note in notes->values()
    note->extend({isOpen: false, queue: []})
    SetOptions(note.bufnr)
    presence.Show(note, [])
    Publish(note)
  endfor
  condition.Refresh()
enddef

# What b:notes_lsp tells others, kept in place so that a script may hold on to the dictionary.
export def Publish(note: dict<any>)
  const wasSynced = note.info->get('synced', false)
  note.info->extend({
    id: note.id, uri: note.uri, rev: note.rev, version: note.version, peers: len(note.peers),
    synced: note.isOpen && empty(note.queue) && note.tick == getbufvar(note.bufnr, 'changedtick'),
  })
  # What the service proved while edits waited in the queue now holds for the buffer.
  if note.info.synced && !wasSynced && note->get('proven', 0) == note.version
    condition.Refresh()
  endif
  condition.ProveSoon(note)
enddef

# Vim's report of a change: where to look first, and when.
def OnChange(bufnr: number, start: number, end: number, added: number, _: list<dict<number>>)
  final note = Of(bufnr)
  if empty(note)
    return
  endif
  note.hint = {
    above: min([note.hint->get('above', start - 1), start - 1]),
    until: max([note.hint->get('until', 0) + added, end - 1 + added]),
  }
  if note.timer == 0
    note.timer = timer_start(0, (_) => Guarded(bufnr, (it) => sync.Drain(it, false)))
  endif
enddef

# A macro is one command, whose changes are undone at once: they are sent when it has ended. So are those of :normal and of a repeated
# insertion, at whose InsertLeave nothing is sent.
def OnHint(bufnr: number)
  if reg_executing() == ''
    Guarded(bufnr, (note) => sync.Drain(note, false))
  endif
enddef

# A reload removes the listener, the text properties and all records of what has changed.
def OnReload(bufnr: number)
  Guarded(bufnr, (note) => {
    listener_remove(note.listener)
    note.listener = listener_add(OnChange, bufnr)
    SetOptions(bufnr)
    if condition.IsReadOnly(note)
      condition.ShowAccess(note)
    endif
    Reopen(note)
    presence.Redraw(note)
  })
enddef

# A reload shows the file, not an edit of the user: the service compares it with the last known content of the file, so
# that no unsaved words are lost.
def Reopen(note: dict<any>)
  note->extend({version: note.version + 1, wasOpen: false, had: []})
  OpenAsRead(note)
enddef

# Shows the service the text as it was read, even a NUL, which sync.OnCheck replaces later: else its line would be a new one.
# Without a service, the next one gets the file's text, and so knows what was typed since.
def OpenAsRead(note: dict<any>)
  note.shadow = text.OfBuffer(note.bufnr, note.shadow == [''])
  sync.Mend(note.bufnr, note.shadow, 0, len(note.shadow), "\n")
  note->extend({bytes: text.ByteCount(note.shadow), tick: getbufvar(note.bufnr, 'changedtick'), hint: {}})
  note.opened = getbufvar(note.bufnr, '&modified') ? v:null : text.Joined(note.shadow)
  SendOpen(note)
  presence.SendSoon(note)
enddef

def OnRenamed(bufnr: number)
  Guarded(bufnr, (note) => {
    if fnamemodify(bufname(bufnr), ':p') !=# note.path
      sync.Flush(note, false)
      condition.Leave(note, 'renamed')
      setbufvar(bufnr, 'notes_lsp_left', {path: note.path, uri: note.uri, id: note.id})
      execute $'autocmd notes_lsp_buffer BufFilePost <buffer={bufnr}> OnRenamedAgain({bufnr})'
      # Vim itself says now that it has written the file. That may be another note's, or this note's, moved.
      timer_start(0, (_) => files.OnRead(bufnr, () => {
        const isSaved = filereadable(bufname(bufnr))
        status.Warn(isSaved ? 'Saved as a plain copy; no longer shared' : 'Now a plain copy; no longer shared')
      }))
    endif
  })
enddef

# A buffer that gets back the name of its note's file is the note again. It lacks what others wrote in between.
def OnRenamedAgain(bufnr: number)
  const left = getbufvar(bufnr, 'notes_lsp_left', {})
  if empty(Of(bufnr)) && !empty(left) && fnamemodify(bufname(bufnr), ':p') ==# left.path
    Attach(bufnr, left.uri, left.id)
  endif
enddef

# With autocommands off, Vim reads a file again and reports nothing. A change by the user would make the buffer modified, so
# an unmodified buffer that equals the file was read again. Returns whether that was so; if it was, shows the service the text,
# as after any reload.
export def NoticeReload(note: dict<any>, lines: list<string>): bool
  # Text that no service has seen cannot be compared with what it knows. What the person changed, Vim reports, if it was also
  # written since; a reload, it does not.
  listener_flush(note.bufnr)
  if !empty(note.hint) || getbufvar(note.bufnr, '&modified') || !(note.isOpen || note.wasOpen)
      || workingfile.Text(note.path) !=# lines->join("\n")
    return false
  endif
  OnReload(note.bufnr)
  return true
enddef

# :edit unloads a buffer and reads it again at once; only one that stays unloaded is closed.
def OnUnload(bufnr: number)
  Guarded(bufnr, (note) => {
    sync.Flush(note, false)
    unsent.Keep(note)
    note.place = bufnr == bufnr() ? {text: copy(note.shadow), view: winsaveview()} : {}
  })
  timer_start(0, (_) => {
    if !bufloaded(bufnr)
      Detach(bufnr)
    endif
  })
enddef

def OnCursor(bufnr: number)
  Guarded(bufnr, (note) => {
    presence.OnMoved(note)
    presence.SendSoon(note)
  })
enddef

# An error in a callback would stop Vim for a second and scroll the screen, so it is shown on one line.
export def Guarded(bufnr: number, Act: func)
  final note = Of(bufnr)
  if empty(note)
    return
  endif
  try
    Act(note)
  catch
    status.Trouble(v:exception, v:throwpoint)
  endtry
enddef

# Nothing is pending in the editor: applies what has waited.
export def OnSafeState()
  sync.Renew()
  for note in notes->values()
    # A buffer that was wiped out is detached a moment later.
    if bufloaded(note.bufnr) && (!empty(note.queue) || note.tick != getbufvar(note.bufnr, 'changedtick'))
      Guarded(note.bufnr, (it) => sync.Drain(it, true))
    endif
  endfor
enddef

# 'endofline' is part of the text, and changes without a trace in changedtick.
export def OnOptionSet()
  for note in notes->values()
    Guarded(note.bufnr, (it) => sync.Flush(it, true))
  endfor
enddef
