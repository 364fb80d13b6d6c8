vim9script
# Buffers that are notes: what the user does goes out, what the others do comes in.
#
# Per buffer there is a shadow, the text as the service believes this buffer to be. Anything that hints at a change
# leads to a comparison of buffer and shadow; the difference is sent. Vim's own change reports are only hints: they come
# late, merged, and not at all for :edit!.

import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/apply.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# Note by buffer number. A note: {bufnr, id, uri, path, version, rev, shadow, bytes, queue, tick, isOpen, wasOpen, …}.
var notes: dict<dict<any>> = {}
var isDraining = false
# While an edit goes in, the shadow is ahead of the buffer, and what autocommands report is not the user's.
var isApplying = false
# Earlier changes that a late list of carets can be carried over.
const rememberedChanges = 64

export def All(): list<dict<any>>
  return notes->values()
enddef

export def Of(bufnr: number): dict<any>
  return notes->get(bufnr, {})
enddef

export def WithURI(uri: string): dict<any>
  for note in notes->values()
    if note.uri ==# uri
      return note
    endif
  endfor
  return {}
enddef

# Makes a loaded buffer a note that the service looks after.
export def Attach(bufnr: number, uri: string, id: string): dict<any>
  if notes->has_key(bufnr)
    notes[bufnr].id = id != '' ? id : notes[bufnr].id
    Publish(notes[bufnr])
    return notes[bufnr]
  endif
  var lines = text.OfBuffer(bufnr, true)
  if Mend(bufnr, lines, 0, len(lines))
    lines = text.OfBuffer(bufnr, true)
  endif
  final note = {
    bufnr: bufnr, id: id, uri: uri, path: fnamemodify(bufname(bufnr), ':p'), version: 1, rev: 0, shadow: lines,
    bytes: text.ByteCount(lines), queue: [], tick: getbufvar(bufnr, 'changedtick'), hint: {}, timer: 0, isOpen: false,
    wasOpen: false, run: '', lastSeen: 0, changes: [], peers: [], lateCarets: {},
    listener: listener_add(OnChange, bufnr), info: {},
  }
  notes[bufnr] = note
  setbufvar(bufnr, 'notes_lsp', note.info)
  SetOptions(bufnr)
  SetAutocommands(bufnr)
  status.MapUndo(bufnr)
  SendOpen(note)
  presence.SendSoon(note)
  return note
enddef

# Undo belongs to the service, for Vim's own would take back the others' words; the note is stored there, so a swap file
# would only ask questions.
def SetOptions(bufnr: number)
  setbufvar(bufnr, '&swapfile', false)
  setbufvar(bufnr, '&undofile', false)
  setbufvar(bufnr, '&undolevels', -1)
enddef

def SetAutocommands(bufnr: number)
  augroup notes_lsp_buffer
    execute $'autocmd! * <buffer={bufnr}>'
    execute $'autocmd TextChanged,TextChangedI,TextChangedP,InsertLeave <buffer={bufnr}> OnHint({bufnr})'
    execute $'autocmd BufReadPost,FileChangedShellPost <buffer={bufnr}> OnReload({bufnr})'
    execute $'autocmd BufWritePre <buffer={bufnr}> OnHint({bufnr})'
    execute $'autocmd BufWritePost <buffer={bufnr}> OnWritten({bufnr})'
    execute $'autocmd BufFilePost <buffer={bufnr}> OnRenamed({bufnr})'
    execute $'autocmd BufUnload <buffer={bufnr}> OnUnload({bufnr})'
    execute $'autocmd CursorMoved,CursorMovedI,ModeChanged,BufEnter <buffer={bufnr}> OnCursor({bufnr})'
  augroup END
enddef

# Forgets a buffer that is no longer a note. Safe to call twice.
export def Detach(bufnr: number)
  if !notes->has_key(bufnr)
    return
  endif
  final note = notes->remove(bufnr)
  timer_stop(note.timer)
  presence.Clear(note)
  if note.isOpen
    service.Notify('textDocument/didClose', {textDocument: {uri: note.uri}})
  endif
  if bufexists(bufnr)
    listener_remove(note.listener)
    execute $'autocmd! notes_lsp_buffer * <buffer={bufnr}>'
    status.UnmapUndo(bufnr)
    setbufvar(bufnr, 'notes_lsp', {})
    setbufvar(bufnr, '&undolevels', &g:undolevels)
    setbufvar(bufnr, '&swapfile', &g:swapfile)
  endif
enddef

# Shows a buffer to the service: the first time as a file that was opened, later as a buffer that has lived on.
def SendOpen(note: dict<any>)
  if !service.IsReady()
    return
  endif
  const filetype = getbufvar(note.bufnr, '&filetype')
  final params = {textDocument: {
    uri: note.uri, languageId: filetype ==# '' ? 'text' : filetype, version: note.version,
    text: note.shadow->join("\n"),
  }}
  if note.wasOpen
    params.notes = note.run ==# '' ? {reattach: true} : {reattach: true, run: note.run}
  endif
  note.rev = 0
  note.lastSeen = 0
  note.queue = []
  note.changes = []
  note.lateCarets = {}
  note.isOpen = service.Notify('textDocument/didOpen', params)
  note.wasOpen = note.wasOpen || note.isOpen
  note.run = service.Run()
  Publish(note)
enddef

# The service has come (back): it is shown every note as it is now.
export def OnServiceReady()
  for note in notes->values()
    Flush(note, true)
    note.version += 1
    SendOpen(note)
    presence.SendSoon(note)
  endfor
enddef

export def OnServiceGone()
  for note in notes->values()
    note.isOpen = false
    note.queue = []
    presence.Show(note, [])
    Publish(note)
  endfor
enddef

# What b:notes_lsp tells others, kept in place so that a script may hold on to the dictionary.
def Publish(note: dict<any>)
  note.info->extend({
    id: note.id, uri: note.uri, rev: note.rev, version: note.version, peers: len(note.peers),
    synced: note.isOpen && empty(note.queue) && note.tick == getbufvar(note.bufnr, 'changedtick'),
  })
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
    note.timer = timer_start(0, (_) => OnHint(bufnr))
  endif
enddef

def OnHint(bufnr: number)
  Guarded(bufnr, (note) => Drain(note, false))
enddef

# A reload kills the listener, the text properties and every idea of what has changed.
def OnReload(bufnr: number)
  Guarded(bufnr, (note) => {
    listener_remove(note.listener)
    note.listener = listener_add(OnChange, bufnr)
    SetOptions(bufnr)
    Reopen(note)
    presence.Redraw(note)
  })
enddef

# What a reload shows is the file, not what the user did: the service compares it with what the file last held, so that
# nobody's words go because they were not written yet.
def Reopen(note: dict<any>)
  note.hint = {}
  if !note.isOpen || !text.IsSendable(text.OfBuffer(note.bufnr, note.shadow == [''])->join(''))
    Flush(note, true)
    return
  endif
  note.shadow = text.OfBuffer(note.bufnr, note.shadow == [''])
  note.bytes = text.ByteCount(note.shadow)
  note.tick = getbufvar(note.bufnr, 'changedtick')
  note.version += 1
  note.wasOpen = false
  SendOpen(note)
  presence.SendSoon(note)
enddef

def OnWritten(bufnr: number)
  Guarded(bufnr, (note) => {
    if note.isOpen && fnamemodify(expand('<afile>'), ':p') ==# note.path
      service.Notify('textDocument/didSave', {textDocument: {uri: note.uri}})
    endif
  })
enddef

def OnRenamed(bufnr: number)
  Guarded(bufnr, (note) => {
    if fnamemodify(bufname(bufnr), ':p') !=# note.path
      Detach(bufnr)
      status.Say('This buffer has a new name and is no longer the note; the note itself stays.')
    endif
  })
enddef

# :edit unloads a buffer and reads it again at once; only one that stays unloaded is closed.
def OnUnload(bufnr: number)
  Guarded(bufnr, (note) => Flush(note, false))
  timer_start(0, (_) => {
    if !bufloaded(bufnr)
      Detach(bufnr)
    endif
  })
enddef

def OnCursor(bufnr: number)
  Guarded(bufnr, (note) => presence.SendSoon(note))
enddef

# An error in a callback would stop Vim for a second and scroll the screen, so it is told in one line.
def Guarded(bufnr: number, Act: func)
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

# Nothing is pending in the editor: what waited may go in.
export def OnSafeState()
  for note in notes->values()
    if !empty(note.queue) || note.tick != getbufvar(note.bufnr, 'changedtick')
      Guarded(note.bufnr, (it) => Drain(it, true))
    endif
  endfor
enddef

# 'endofline' is part of the text, and changes without a trace in changedtick.
export def OnOptionSet()
  for note in notes->values()
    Guarded(note.bufnr, (it) => Flush(it, true))
  endfor
enddef

# Sends what the user has done since the last time. Cheap when nothing has.
export def Flush(note: dict<any>, force: bool): bool
  timer_stop(note.timer)
  note.timer = 0
  if isApplying || !bufloaded(note.bufnr) || (!force && note.tick == getbufvar(note.bufnr, 'changedtick'))
    return false
  endif
  var now = text.OfBuffer(note.bufnr, note.shadow == [''])
  var difference = text.Difference(note.shadow, now, note.hint)
  if !empty(difference) && Mend(note.bufnr, now, difference.at, difference.count)
    now = text.OfBuffer(note.bufnr, note.shadow == [''])
    difference = text.Difference(note.shadow, now, {})
  endif
  note.hint = {}
  note.tick = getbufvar(note.bufnr, 'changedtick')
  if empty(difference)
    Publish(note)
    return false
  endif
  Remember(note, [difference.edit])
  note.shadow = now
  note.bytes += difference.bytes
  SendChange(note, [{range: difference.edit.range, text: difference.edit.newText}])
  return true
enddef

# Replaces what no note can hold (a NUL, half a character) in the buffer itself, so that both sides stay equal.
def Mend(bufnr: number, lines: list<string>, at: number, count: number): bool
  const changed = lines->slice(at, at + count)
  if text.IsSendable(changed->join(''))
    return false
  endif
  for [index, line] in changed->items()
    if !text.IsSendable(line)
      setbufline(bufnr, at + index + 1, text.Sendable(line))
      status.Warn($'Line {at + index + 1} had a character that notes cannot hold; it is now U+FFFD.')
    endif
  endfor
  return true
enddef

def SendChange(note: dict<any>, changes: list<dict<any>>)
  note.version += 1
  if note.isOpen
    note.isOpen = service.Notify('textDocument/didChange', {
      textDocument: {uri: note.uri, version: note.version}, contentChanges: changes, notes: {rev: note.rev},
    })
  endif
  Publish(note)
enddef

# Sends the whole text, which is always right and puts everything right.
export def SendWhole(note: dict<any>)
  note.shadow = text.OfBuffer(note.bufnr, note.shadow == [''])
  note.bytes = text.ByteCount(note.shadow)
  note.tick = getbufvar(note.bufnr, 'changedtick')
  note.hint = {}
  note.changes = []
  SendChange(note, [{text: note.shadow->join("\n")}])
enddef

# Notes a change by the version and rev before it, and moves the carets on the screen over it.
def Remember(note: dict<any>, edits: list<dict<any>>)
  note.changes->add({version: note.version, rev: note.rev, edits: edits})
  if len(note.changes) > rememberedChanges
    note.changes->remove(0)
  endif
  presence.Carry(note, edits)
enddef

# Sends what is pending here, then applies what has come, unless the user is in the middle of something.
export def Drain(note: dict<any>, isSafe: bool)
  if isDraining
    return
  endif
  isDraining = true
  try
    Flush(note, false)
    var applied = false
    while !empty(note.queue) && !(isSafe ? gate.IsUnsafeMode(mode(1)) : gate.IsUnsafe())
      const message = note.queue->remove(0)
      if message.rev != note.lastSeen + 1
        AskAgain(note)
      endif
      note.lastSeen = message.rev
      # An edit made for an earlier version is dropped: the service sends it again, carried over what was sent here.
      if message.version == note.version
        Take(note, message)
        applied = true
      endif
    endwhile
    if applied
      presence.Redraw(note)
    endif
    if empty(note.queue) && !empty(note.lateCarets)
      OnCursors(note.lateCarets)
    endif
    Publish(note)
  finally
    isDraining = false
  endtry
enddef

def Take(note: dict<any>, message: dict<any>)
  note.hint = {}
  try
    isApplying = true
    final edits = text.Clamped(note.shadow, message.edits)
    Remember(note, edits)
    note.bytes += apply.Edits(note.bufnr, note.shadow, edits)
  catch
    isApplying = false
    Repair(note, v:exception)
    return
  finally
    isApplying = false
  endtry
  note.tick = getbufvar(note.bufnr, 'changedtick')
  note.rev = message.rev
  if note.bytes != message.bytes
    Repair(note, $'{note.bytes}, not {message.bytes} bytes')
    return
  endif
  service.Notify('notes/ack', {uri: note.uri, version: note.version, rev: note.rev})
  if message->get('cause', '') ==# 'undo'
    ShowFirst(note.bufnr, message.edits)
  endif
enddef

# After undoing, the cursor is where it was undone, as in any other buffer.
def ShowFirst(bufnr: number, edits: list<dict<any>>)
  if bufnr == bufnr() && mode() ==# 'n' && !empty(edits)
    const start = edits[0].range.start
    cursor(start.line + 1, start.character + 1)
  endif
enddef

# An edit has got lost on the way, so no later one fits. A change of nothing moves the version, and the service sends all
# that is missing for it.
def AskAgain(note: dict<any>)
  const start = {line: 0, character: 0}
  SendChange(note, [{range: {start: start, end: start}, text: ''}])
enddef

def Repair(note: dict<any>, what: string)
  SendWhole(note)
  status.Warn($'{fnamemodify(note.path, ":t")} differed from the note; sent in full ({what})')
enddef

export def OnEdit(params: dict<any>)
  final note = WithURI(params.uri)
  if !empty(note)
    note.queue->add(params)
    note.info.synced = false
    Drain(note, false)
  endif
enddef

# Proves that both sides have the same text, when both speak of the same moment.
export def OnCheck(params: dict<any>)
  final note = WithURI(params.uri)
  if empty(note) || params.version != note.version || !empty(note.queue)
    return
  endif
  if params.rev > note.lastSeen
    note.lastSeen = params.rev
    AskAgain(note)
  elseif params.rev != note.rev
    # The last edits were dropped here, and nothing of them is left to be sent again.
    return
  elseif params.bytes != note.bytes || sha256(note.shadow->join("\n")) !=? params.sha256
    Repair(note, 'not the same text')
  endif
enddef

export def OnResync(params: dict<any>)
  final note = WithURI(params.uri)
  if !empty(note)
    note.queue = []
    SendWhole(note)
  endif
enddef

# The others' carets, carried over what has changed here since the service wrote them down.
export def OnCursors(params: dict<any>)
  final note = WithURI(params.uri)
  if empty(note)
    return
  endif
  note.lateCarets = {}
  if params.rev > note.rev
    note.lateCarets = params
    return
  endif
  presence.Show(note, params.peers)
  const from = note.changes->indexof((_, it) => it.version == params.version && it.rev == params.rev)
  if from >= 0 && (params.version != note.version || params.rev != note.rev)
    for change in note.changes->slice(from)
      presence.Carry(note, change.edits)
    endfor
  endif
  presence.Redraw(note)
  Publish(note)
enddef
