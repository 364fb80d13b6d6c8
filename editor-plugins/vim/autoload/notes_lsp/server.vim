vim9script
# Servers that are always on: connecting to them, and publishing notes there.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

# Connects to the server at a URL, also after a restart, and offers to publish the current note there; or calls another
# person's service at an address.
#
# given: the URL and perhaps a token; asksToken: the token is typed unseen, and stays out of the command history
export def Connect(given: string, asksToken: bool)
  const words = split(given)
  if empty(words) || len(words) > 2
    status.Warn(':NotesConnect wss://host/ [token]')
    return
  elseif words[0] !~# '^wss\=://'
    service.Request('notes/connect', {address: words[0]}, commands.Then((_) => {
      status.Say($'Connected to {words[0]}')
      view.Refresh()
    }))
    return
  endif
  final params = {url: words[0], token: words->get(1, '')}
  if asksToken && params.token == ''
    params.token = inputsecret('Token: ')
  endif
  const note = buffer.Of(bufnr())
  status.Say($'Connecting to {words[0]}…')
  service.Request('notes/connect', params, commands.Then((result) => {
    view.Refresh()
    if result.state ==# 'connected'
      status.Say($'Connected to {result.url}')
    else
      status.Warn($'Not connected yet: {result->get("message", "no answer")}')
    endif
    if !empty(note) && note.id != ''
      Offer(note, result.url)
    endif
  }))
enddef

def Offer(note: dict<any>, url: string)
  # A key that is typed as it opens publishes nothing.
  const choices = ['keep it between your peers', $'publish on {url}']
  nearby.Choose($' {fnamemodify(note.path, ":t:r")} ', choices, (it) => it, (chosen) => {
    if chosen ==# choices[1]
      Publish(note, url)
    endif
  })
enddef

def Publish(given: dict<any>, url: string)
  # Under a name of its own: Vim 9.0 crashes in a lambda that assigns to a member of an argument and does not read it.
  final note = given
  service.Request('notes/publish', {uri: note.uri, url: url}, commands.Then((result) => {
    setreg('"', result.ticket)
    if has('clipboard')
      setreg('+', result.ticket)
    endif
    note.isUnshared = false
    condition.Refresh()
    if result->has_key('message')
      status.Warn(result.message)
    else
      status.Say('Published; register " has the ticket for others')
    endif
  }))
enddef
