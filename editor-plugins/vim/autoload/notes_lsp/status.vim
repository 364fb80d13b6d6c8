vim9script
# What the user reads: one line at a time, and never in the middle of a command.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'

var toldTroubles: dict<bool> = {}

export def Say(message: string)
  gate.WhenSafe(() => Show(message, 'None'))
enddef

export def Warn(message: string)
  gate.WhenSafe(() => Show(message, 'WarningMsg'))
enddef

# A mistake of the plugin itself, told once.
export def Trouble(exception: string, throwpoint: string)
  const what = $'notes-lsp: {exception} ({throwpoint})'
  if !toldTroubles->has_key(what)
    toldTroubles[what] = true
    Warn(what)
  endif
enddef

# A message that does not fit would stop everything with a prompt, so it is cut.
def Show(message: string, highlight: string)
  var line = message->substitute('[[:cntrl:]]\+', ' ', 'g')
  const room = max([v:echospace, 20])
  if strdisplaywidth(line) > room
    while strdisplaywidth(line) > room - 1
      line = line->strcharpart(0, strcharlen(line) - 1)
    endwhile
    line ..= '…'
  endif
  redraw
  execute $'echohl {highlight}'
  echomsg line
  echohl None
enddef

# The note in the current buffer in a few words, for a status line; '' elsewhere.
export def Line(): string
  final note = buffer.Of(bufnr())
  if empty(note)
    return ''
  endif
  if !service.IsReady()
    return service.State() ==# 'stopped' ? '[notes: stopped]' : '[notes: starting]'
  endif
  final connected: list<dict<any>> = note->get('status', {})->get('peers', [])->copy()
    ->filter((_, it) => it->get('state', '') !=# 'unreachable')
  final others = connected->mapnew((_, it) => it.name)
  final late = copy(connected)->filter((_, it) => !it->get('inSync', true))
  # Who is connected, and who only has a caret here by way of others.
  const names = (others + presence.Names(note))->sort()->uniq()->mapnew((_, name) => {
    final behind = copy(late)->filter((_, it) => it.name ==# name)
    return empty(behind) ? name : $'{name} +{behind[0]->get("pending", 1)}'
  })
  const company = empty(names) ? '' : ' with ' .. names->join(', ')
  return $'[notes{company}{note.info.synced ? "" : " …"}{NetworkTrouble(note)}]'
enddef

# Why nobody can be reached; '' if they can.
def NetworkTrouble(note: dict<any>): string
  const network = note->get('status', {})->get('network', 'on')
  return network ==# 'on' ? '' : network ==# 'off' ? '; network off' : $'; no network: {network}'
enddef
