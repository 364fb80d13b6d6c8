vim9script
# What the user reads on the last line: one message at a time, never in the middle of a command, and never over an error
# or a prompt that has not been read.
#
#     Say, Warn ──► waiting ──nothing unread, nothing pending──► shown ──the user types or moves──► read

import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/safe.vim'

const mostWaiting = 20
# Of several messages that waited, each is shown at least this long, in milliseconds.
const shownTime = 2000

# [message, highlight]
var waiting: list<list<string>> = []
# The last line has a message that stays until the user types or moves.
var isUnread = false
# Vim's own last error, once it has been read.
var readError = ''
var pause = 0
var isHeldByGate = false
# Urgent messages that came in Insert mode, where the next key takes them away: shown again afterwards.
var missed: list<string> = []
var toldTroubles: dict<bool> = {}

# News: waits while something else is to be read.
export def Say(message: string)
  Add(message, 'None')
enddef

# An error, or what the user has to know: stays until the user types or moves.
export def Warn(message: string)
  Add(message, 'WarningMsg')
enddef

# A mistake of the plugin itself, told once.
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
    autocmd InsertLeave * OnInsertLeave()
  augroup END
enddef

# The user has done something, and so has seen the last line.
export def OnActivity()
  isUnread = false
  readError = v:errmsg
  if !empty(waiting)
    # Not at once: the mode would be written over it.
    timer_start(0, (_) => ShowNext())
  endif
enddef

def OnInsertLeave()
  waiting = missed->mapnew((_, it) => [it, 'WarningMsg']) + waiting
  missed = []
  OnActivity()
enddef

def Add(message: string, highlight: string)
  const line = safe.Line(message)->substitute('[[:cntrl:][:space:]]\+', ' ', 'g')->trim()
  if line == '' || (!empty(waiting) && waiting[-1][0] ==# line)
    return
  endif
  waiting->add([line, highlight])
  if len(waiting) > mostWaiting
    waiting->remove(0)
  endif
  ShowNext()
enddef

# Shows the oldest message that waits, if nothing is to be read and nothing pending.
def ShowNext()
  if empty(waiting) || pause != 0 || isHeldByGate || isUnread || IsErrorShown()
    return
  endif
  isHeldByGate = gate.IsUnsafe()
  gate.WhenSafe(() => {
    isHeldByGate = false
    if empty(waiting) || isUnread || IsErrorShown()
      return
    endif
    const [message, highlight] = waiting->remove(0)
    isUnread = highlight !=# 'None'
    if isUnread && mode() =~# '^[iR]'
      missed->add(message)
    endif
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

# A message that does not fit would stop everything with a prompt, so it is cut.
def Show(message: string, highlight: string)
  const line = Fitting('Notes: ' .. message)
  redrawstatus!
  redraw
  execute $'echohl {highlight}'
  echomsg line
  echohl None
enddef

def Fitting(message: string): string
  const room = max([v:echospace, 20])
  if strdisplaywidth(message) <= room
    return message
  endif
  var line = message
  while strdisplaywidth(line) > room - 1
    line = line->strcharpart(0, strcharlen(line) - 1)
  endwhile
  return line .. '…'
enddef

# Whether a message fits on the last line.
export def Fits(message: string): bool
  return strdisplaywidth('Notes: ' .. message) <= v:echospace
enddef
