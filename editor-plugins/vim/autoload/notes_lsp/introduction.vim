vim9script
# The first start: asks once for the name that others see, and whether to be seen on this network.

import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# Called when the user has answered.
var GoOn: func = null_function

# The name that :NotesName was given, which is not asked for, and whether the user was asked since.
var chosen = ''
var isAsked = false

# Asks as soon as the user is not in the middle of something, then calls `Then`. Until then the service tells the network
# nothing of this user.
export def Begin(Then: func)
  GoOn = Then
  augroup notes_lsp_introduction
    autocmd!
    autocmd SafeState,SafeStateAgain * Offer()
  augroup END
  timer_start(0, (_) => Offer())
enddef

def Offer()
  if mode(1) !=# 'n' || state('moswS') != '' || !exists('#notes_lsp_introduction#SafeState')
    return
  endif
  autocmd! notes_lsp_introduction
  timer_start(0, (_) => {
    Ask(service.PeerName())
    GoOn()
  })
enddef

def Ask(default: string)
  isAsked = true
  echohl Question
  const given = chosen != '' ? chosen : status.Ask('Name that others see: ', default)
  const choice = status.Confirm('Notes: May people on this network see you?', "&Yes\n&No", 1)
  echohl None
  redraw
  Set(given == '' ? default : given, choice == 1)
enddef

def Set(name: string, isVisible: bool)
  service.Request('notes/setName', {name: name, visible: isVisible}, (answer) => {
    if answer->has_key('error')
      status.Warn(answer.error.message)
    else
      status.Say($'Others see you as {name}. :NotesName changes it')
    endif
  })
enddef

# Changes the name, and stores it; without one, asks for it. At the first start the user is asked before this is answered.
export def Name(given: string)
  [chosen, isAsked] = [given, false]
  const [method, params] = given == '' ? ['notes/peers', {}] : ['notes/setName', {name: given}]
  service.Request(method, params, (answer) => {
    chosen = ''
    if answer->has_key('error')
      status.Warn(answer.error.message)
    elseif !isAsked && given == ''
      timer_start(0, (_) => Ask(answer.result->get('self', {})->get('name', '')))
    elseif !isAsked
      status.Say($'Others see you as {given} now')
    endif
  })
enddef
