vim9script
# When the buffer may be changed while the user works in it, and what waits until then.

import autoload 'notes_lsp/status.vim'

# Typing that began in a blockwise selection is repeated on the other lines when it ends.
var isBlockInsert = false
var waiting: list<func> = []

# SafeStateAgain is triggered after each message from the service. Without it, work that waits because a message scrolled the
# screen would wait for a key.
augroup notes_lsp_gate
  autocmd!
  autocmd SafeState,SafeStateAgain * Release()
augroup END

# Whether a change by other people would hit the wrong text now.
#
# Vim reports it as the S of state(): it is waiting in the middle of something (an operator, a register name,
# the second key of a command, a prompt of :s///c, completion). A line range being typed names lines by number. During
# a `c` command Vim reports a pending operator although nothing is pending, unless it is blockwise.
export def IsUnsafe(): bool
  const pending = state('moswS')
  const mode = mode(1)
  if pending ==# 'o' && mode[0] ==# 'i'
    return IsUnsafeMode(mode)
  endif
  return pending != '' || IsUnsafeMode(mode)
enddef

# The same at SafeState, when Vim has just said that nothing is pending; it says so during a blockwise insertion, too.
export def IsUnsafeMode(mode: string): bool
  return (isBlockInsert && mode[0] ==# 'i') || mode =~ '^\%(no\|[crsS!]\|' .. "\<C-s>" .. '\)' || pumvisible() || getcmdwintype() != ''
enddef

export def OnModeChanged()
  if v:event.new_mode[0] ==# 'i' && v:event.old_mode[0] !=# 'i'
    isBlockInsert = v:event.old_mode[0] ==# "\<C-v>"
  endif
enddef

# Runs `Act` now, or as soon as the user is not in the middle of something.
export def WhenSafe(Act: func)
  if IsUnsafe()
    waiting->add(Act)
  else
    Act()
  endif
enddef

# Runs `Act`, which opens a popup, now or as soon as Vim waits for a command. At the hit-enter prompt Vim does not draw a popup and
# yet gives it the keys, and in Insert mode it would take what the user is typing.
export def WhenIdle(Act: func)
  WhenSafe(() => {
    if mode(1) !=# 'n'
      waiting->add(() => WhenIdle(Act))
      return
    endif
    Act()
    redraw
    status.WaitAnew()
  })
enddef

# Runs what has waited, unless Vim holds back keys that may begin a mapping or a longer key, such as <Esc>: a message shown
# before the Escape that ends Insert mode causes the hit-enter prompt. SafeState is triggered again once Vim has handled the keys.
def Release()
  if empty(waiting) || state('m') != '' || IsUnsafeMode(mode(1))
    return
  endif
  const ready = waiting
  waiting = []
  for Act in ready
    try
      Act()
    catch
      status.Trouble(v:exception, v:throwpoint)
    endtry
  endfor
enddef
