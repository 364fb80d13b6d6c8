vim9script
# What the user reads on the last line: one message at a time, never in the middle of a command, and never over an error
# or a prompt that has not been read.
#
#     Say, Warn ──► waiting ──nothing unread, nothing pending──► shown ──the user types or moves──► read

import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/safe.vim'

const maximumWaiting = 20
# How long a message is shown before the next one that waits, in milliseconds.
const shownTime = 2000

# [message, highlight]
var waiting: list<list<string>> = []
# Whether the last line has a message that stays until the user types or moves.
var isUnread = false
# That message, and whether it says where the user's words are.
var lastShown = ''
var isUrgent = false
# How many times Vim goes on to wait without a key.
var safeStatesToCome = 0
# The last error of Vim itself, once the user has read it.
var readError = ''
var pause = 0
var isHeldByGate = false
var toldTroubles: dict<bool> = {}
# All messages, oldest first, for :NotesLog.
var told: list<string> = []
const maximumTold = 500

# Asks for a line; '' if the user does not want to.
export def Ask(prompt: string, default = ''): string
  const line = input($'Notes: {prompt}', default)->trim()
  # The prompt would stay on the last line.
  redraw
  echo ''
  Wake()
  return line
enddef

# Lets the user choose by a letter; returns the number of the choice, 0 if there is none.
export def Confirm(question: string, choices: string, default: number): number
  const choice = confirm(question, choices, default)
  Wake()
  return choice
enddef

# After a prompt in a callback, Vim waits for a key without triggering SafeState, so everything that waits for that
# event would also wait for the key.
def Wake()
  if state('c') != ''
    feedkeys("\<Ignore>", 'n')
  endif
enddef

# Where a popup opens while Vim waits for a key, Vim would still map that key, and type into the buffer what the popup leaves of
# the mapping. A wait that begins with the popup maps nothing.
export def WaitAnew()
  if state('c') != '' || state('x') != ''
    # The key that does nothing is not the user's.
    safeStatesToCome += 1
  endif
  feedkeys("\<Ignore>", 'in')
enddef

# A message that waits until the user has read others.
export def Say(message: string)
  Add(message, 'None')
enddef

# An error, or news that the user must see: stays until the user types or moves.
export def Warn(message: string)
  Add(message, 'WarningMsg')
enddef

# The command needs a note, and the current buffer is none.
export def NotANote()
  Warn(&buftype == '' ? 'Not a note. :NotesAdopt makes it one' : 'Not a note; go to a note first')
enddef

# Shows the line of an event, as urgent as the service says.
export def Tell(event: dict<any>)
  # Of several people the one who points.
  const line = event->get('line', event->get('message', '')) .. (event->get('kind', '') ==# 'pointed' ? $' {event->get("name", "")}' : '')
  const level = event->get('level', 'urgent')
  if level ==# 'words'
    Urge(line)
  elseif level ==# 'news'
    Say(line)
  else
    Warn(line)
  endif
enddef

# Says where the user's words are. Goes before all waiting messages, and replaces an unread one of ours, which
# then waits again.
export def Urge(message: string)
  const line = Cleaned(message)
  if line == ''
    return
  endif
  Log(line)
  waiting->insert([line, 'WarningMsg'], 0)
  if isUnread && lastShown != '' && !isUrgent && !IsErrorShown()
    waiting->insert([lastShown, 'WarningMsg'], 1)
    isUnread = false
  endif
  isUrgent = !isUnread
  timer_stop(pause)
  pause = 0
  ShowNext()
enddef

# Drops the messages with `part` that wait: the user does what they ask for.
export def Forget(part: string)
  waiting->filter((_, it) => it[0]->stridx(part) < 0)
enddef

# A mistake in the plugin itself, reported once.
export def Trouble(exception: string, throwpoint: string)
  const what = $'{exception} ({throwpoint})'
  if !toldTroubles->has_key(what)
    toldTroubles[what] = true
    Warn(what)
  endif
enddef

# Notices that the user types or moves, while there is a service that may have something to say.
export def Listen()
  augroup notes_lsp_status
    autocmd!
    autocmd CursorMoved,CursorMovedI,TextChanged,TextChangedI,InsertEnter,CmdlineLeave,BufEnter * OnActivity()
    autocmd ModeChanged [iR]*:n OnTypingEnds()
    # A key that does nothing, as <Esc> alone.
    autocmd SafeState * OnSafeState()
    autocmd CursorHold,CursorHoldI * safeStatesToCome = 1
  augroup END
enddef

# The user has typed or moved, and so has seen the last line.
export def OnActivity()
  isUnread = false
  isUrgent = false
  readError = v:errmsg
  if !empty(waiting)
    # Not at once, or the mode would overwrite it.
    timer_start(0, (_) => ShowNext())
  endif
enddef

# Vim waits for a key again. A key shows that the user has seen what was on the screen.
def OnSafeState()
  if safeStatesToCome > 0
    safeStatesToCome -= 1
  elseif isUnread
    OnActivity()
  endif
enddef

# What came while the last line was the mode's is shown now. Of several pieces of news the last will do: :NotesLog has all.
def OnTypingEnds()
  const last = waiting->copy()->reverse()->indexof((_, it) => it[1] ==# 'None')
  const kept = len(waiting) - 1 - last
  waiting->filter((index, it) => it[1] !=# 'None' || index == kept)
  OnActivity()
enddef

# Whether the last line is the mode's: Vim writes that over a message, and clears the line when the mode ends.
def IsLastLineTaken(): bool
  return &showmode && mode() =~# '^[iR]'
enddef

def Add(message: string, highlight: string)
  const line = Cleaned(message)
  if line == '' || (!empty(waiting) && waiting[-1][0] ==# line)
    return
  endif
  Log(line)
  waiting->add([line, highlight])
  # What the user must see stays.
  const news = waiting->indexof((_, it) => it[1] ==# 'None')
  if len(waiting) > maximumWaiting && news >= 0
    waiting->remove(news)
  endif
  ShowNext()
enddef

# Adds a line to :NotesLog without showing it.
export def Log(line: string)
  told->add($'{strftime("%H:%M:%S")}  {line}')
  if len(told) > maximumTold
    told->remove(0)
  endif
enddef

export def Told(): list<string>
  return told->copy()
enddef

export def Cleaned(message: string): string
  return safe.Line(message)->substitute('[[:cntrl:][:space:]]\+', ' ', 'g')->trim()
enddef

# Shows the oldest waiting message, unless another is unread or Vim is in the middle of something.
def ShowNext()
  if empty(waiting) || pause != 0 || isHeldByGate || isUnread || IsErrorShown() || IsLastLineTaken()
    return
  endif
  isHeldByGate = gate.IsUnsafe()
  gate.WhenSafe(() => {
    isHeldByGate = false
    if empty(waiting) || isUnread || IsErrorShown() || IsLastLineTaken()
      return
    endif
    const [message, highlight] = waiting->remove(0)
    isUnread = highlight !=# 'None'
    lastShown = message
    # If Vim is not waiting for a key yet, it will wait for one now.
    safeStatesToCome = state('c') == '' ? 1 : 0
    Show(message, highlight)
    if !empty(waiting)
      pause = timer_start(shownTime, (_) => {
        pause = 0
        ShowNext()
      })
    endif
  })
enddef

# Whether an error of Vim itself is on the last line and has not been read.
def IsErrorShown(): bool
  if v:errmsg == '' || v:errmsg ==# readError
    return false
  endif
  const start = v:errmsg->strcharpart(0, 12)
  const shown = range(1, strcharlen(start))->mapnew((_, column) => screenstring(&lines, column))->join('')
  return shown ==# start
enddef

# A message that does not fit would cause a prompt that blocks Vim, so it is cut.
def Show(message: string, highlight: string)
  const line = Fitting('Notes: ' .. message)
  redrawstatus!
  redraw
  execute $'echohl {highlight}'
  echomsg line
  echohl None
enddef

def Fitting(message: string): string
  if strdisplaywidth(message) <= v:echospace
    return message
  endif
  # With 'ambiwidth' the ellipsis may be two cells wide.
  const room = v:echospace - strdisplaywidth('…')
  var line = message
  while line != '' && strdisplaywidth(line) > room
    line = line->strcharpart(0, strcharlen(line) - 1)
  endwhile
  return room < 0 ? '' : line .. '…'
enddef
