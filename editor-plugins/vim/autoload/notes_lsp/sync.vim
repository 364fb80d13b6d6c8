vim9script
# Keeps a note's buffer and the service in sync: sends the user's edits, applies other people's.
#
# Per buffer there is a shadow, the text as the service believes this buffer to be. Anything that hints at a change
# leads to a comparison of buffer and shadow; the difference is sent.

import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/apply.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/incoming.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/unsent.vim'
import autoload 'notes_lsp/workingfile.vim'

var isDraining = false
# While an edit is being applied, the shadow is ahead of the buffer, and autocommands report changes that are not the user's.
var isApplying = false

# Sends what the user has changed since the last call. Cheap if nothing has changed.
export def Flush(note: dict<any>, force: bool): bool
  timer_stop(note.timer)
  note.timer = 0
  if isApplying || !bufloaded(note.bufnr)
    return false
  elseif !force && note.tick == getbufvar(note.bufnr, 'changedtick')
    # What Vim has reported was not the user's.
    note.hint = {}
    return false
  endif
  # Without Vim's report, all lines would be compared.
  listener_flush(note.bufnr)
  final now = text.OfBuffer(note.bufnr, note.shadow == [''])
  var difference = text.Difference(note.shadow, now, note.hint, Caret(note.bufnr))
  if !empty(difference) && buffer.NoticeReload(note, now)
    return false
  endif
  if !empty(difference) && Mend(note.bufnr, now, difference.at, difference.count)
    difference = text.Difference(note.shadow, now, {}, Caret(note.bufnr))
  endif
  note.hint = {}
  note.tick = getbufvar(note.bufnr, 'changedtick')
  if empty(difference)
    buffer.Publish(note)
    return false
  endif
  presence.Carry(note, [difference.edit])
  note.shadow = now
  note.bytes += difference.bytes
  SendChange(note, [{range: difference.edit.range, text: difference.edit.newText}])
  return true
enddef

# The caret of the current window as `text.Difference` takes it; {} if that shows another buffer.
def Caret(bufnr: number): dict<number>
  if bufnr() != bufnr
    return {}
  endif
  const column = col('.') - 1
  const width = mode() ==# 'i' ? 0 : getline('.')->strpart(column)->strcharpart(0, 1)->len()
  return {line: line('.') - 1, character: column, behind: column + width}
enddef

# Replaces what no note can hold (a NUL, half a character) in the buffer itself, so that both sides stay equal; and in `lines`.
export def Mend(bufnr: number, lines: list<string>, at: number, count: number, nul = "\uFFFD"): bool
  const changed = lines->slice(at, at + count)
  if text.IsSendable(changed->join(''))
    return false
  endif
  const modifiable = getbufvar(bufnr, '&modifiable')
  setbufvar(bufnr, '&modifiable', true)
  for [index, line] in changed->items()
    lines[at + index] = text.Sendable(line, nul)
    if lines[at + index] !=# line
      setbufline(bufnr, at + index + 1, lines[at + index])
      status.Warn($'Line {at + index + 1}: replaced an invalid character with U+FFFD')
    endif
  endfor
  setbufvar(bufnr, '&modifiable', modifiable)
  return true
enddef

def SendChange(note: dict<any>, changes: list<dict<any>>)
  note.version += 1
  if note.isOpen
    note.isOpen = service.Notify('textDocument/didChange', {
      textDocument: {uri: note.uri, version: note.version}, contentChanges: changes, notes: {rev: note.rev},
    })
  endif
  unsent.OnSent(note)
  buffer.Publish(note)
enddef

# Sends the whole text, which is correct in every state and repairs a wrong one.
export def SendWhole(note: dict<any>)
  note.shadow = text.OfBuffer(note.bufnr, note.shadow == [''])
  Mend(note.bufnr, note.shadow, 0, len(note.shadow))
  note->extend({bytes: text.ByteCount(note.shadow), tick: getbufvar(note.bufnr, 'changedtick'), hint: {}})
  SendChange(note, [{text: note.shadow->join("\n")}])
enddef

# Vim waits for a key, so nothing that was begun goes on. A function that Vim has broken off, without running its `finally`, would
# else keep every later edit waiting.
export def Renew()
  isDraining = false
  isApplying = false
enddef

# Sends pending edits, then applies received ones, unless the user is in the middle of something.
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
      presence.SendSoon(note)
    endif
    if empty(note.queue) && !empty(note.lateCarets)
      OnCursors(note.lateCarets)
    endif
    if empty(note.queue) && note.isFileNews
      workingfile.ShowNews(note)
    endif
    buffer.Publish(note)
  finally
    isDraining = false
  endtry
enddef

def Take(note: dict<any>, message: dict<any>)
  const bytes = note.bytes
  try
    isApplying = true
    final edits = text.Clamped(note.shadow, message.edits)
    apply.Edits(note.bufnr, note.shadow, edits, (grown) => {
      listener_flush(note.bufnr)
      note->extend({hint: {}, tick: getbufvar(note.bufnr, 'changedtick'), bytes: bytes + grown, rev: message.rev})
    })
    presence.Carry(note, edits)
  catch
    isApplying = false
    # With the text in place, only a view was not.
    if note.rev == message.rev
      status.Trouble(v:exception, v:throwpoint)
    else
      Repair(note, v:exception)
      return
    endif
  finally
    isApplying = false
  endtry
  if note.bytes != message.bytes
    Repair(note, $'{note.bytes}, not {message.bytes} bytes')
    return
  endif
  service.Notify('notes/ack', {uri: note.uri, version: note.version, rev: note.rev})
  # After :edit!, what was not saved is back, and so is the cursor.
  if note.bufnr == bufnr() && note.place->get('text', []) == note.shadow
    winrestview(note.place.view)
  endif
  note.place = {}
  if message->get('cause', '') ==# 'undo'
    note.awaitsUndo = false
    ShowFirst(note.bufnr, message.edits)
  endif
enddef

# After undo, the cursor is at the change, as in any other buffer.
def ShowFirst(bufnr: number, edits: list<dict<any>>)
  if bufnr == bufnr() && mode() ==# 'n' && !empty(edits)
    const start = edits[0].range.start
    cursor(start.line + 1, start.character + 1)
  endif
enddef

# An edit was lost, so no later one fits. An empty change raises the version, and the service then sends everything
# that this buffer lacks.
def AskAgain(note: dict<any>)
  const start = {line: 0, character: 0}
  SendChange(note, [{range: {start: start, end: start}, text: ''}])
enddef

def Repair(note: dict<any>, what: string)
  SendWhole(note)
  status.Say('The text differed from the note; sent in full')
  incoming.Remember($'{note.path} differed: {what}')
enddef

export def OnEdit(params: dict<any>)
  final note = buffer.WithURI(params.uri)
  if !empty(note)
    note.opened = v:null
    unsent.OnRead(note, params.version)
    note.queue->add(params)
    note.info.synced = false
    Drain(note, false)
  endif
enddef

# Proves that both sides have the same text, when both speak of the same moment.
export def OnCheck(params: dict<any>)
  final note = buffer.WithURI(params.uri)
  if empty(note)
    return
  endif
  note.opened = v:null
  unsent.OnRead(note, params.version)
  if params.version != note.version || !empty(note.queue)
    return
  elseif text.HasNul(note.shadow)
    SendWhole(note)
    return
  endif
  if params.rev > note.lastSeen
    note.lastSeen = params.rev
    AskAgain(note)
  elseif params.rev != note.rev
    # The last edits were dropped here, and the service has nothing left to resend.
    return
  elseif params.bytes != note.bytes || sha256(note.shadow->join("\n")) !=? params.sha256
    Repair(note, 'not the same text')
  endif
enddef

export def OnResync(params: dict<any>)
  final note = buffer.WithURI(params.uri)
  if !empty(note)
    note.queue = []
    SendWhole(note)
  endif
enddef

# The others' carets. They wait for the edit that they were written down after; what was typed here since, they do not know,
# and so they are asked for again.
export def OnCursors(params: dict<any>)
  final note = buffer.WithURI(params.uri)
  if empty(note)
    return
  endif
  note.lateCarets = {}
  if params.rev > note.rev
    note.lateCarets = params
  elseif params.version != note.version || params.rev != note.rev
    service.Notify('notes/ack', {uri: note.uri, version: note.version, rev: note.rev, carets: true})
  else
    presence.Show(note, params.peers)
    buffer.Publish(note)
  endif
enddef
