vim9script
# People nearby: inviting them, and answering their invitations.

import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

# Invites a person to the note in the current buffer, which becomes a note once the user has chosen the person.
export def Invite(name: string)
  const bufnr = bufnr()
  const problem = empty(buffer.Of(bufnr)) ? files.WhyNoNote(bufnr) : ''
  if problem != ''
    status.Warn(problem)
    return
  endif
  const Begin = (peer: dict<any>) => commands.WithAdopted(bufnr, (note) => InviteTo({uri: note.uri}, peer))
  service.Request('notes/peers', {}, commands.Then((result) => {
    var near: list<any> = result->get('peers', [])->copy()->filter((_, it) => it.state !=# 'blocked')
    var named: list<any> = near->copy()->filter((_, it) => it.name ==? name || it.peer ==# name)
    if empty(near)
      status.Warn(':NotesShare makes a ticket to send; no one is nearby')
    elseif name != '' && empty(named)
      status.Warn($':NotesPeers shows people nearby; {name} is not')
    elseif len(named) == 1
      Begin(named[0])
    else
      const width = near->mapnew((_, it) => strdisplaywidth(it.name))->max()
      Choose(' Invite ', empty(named) ? near : named, (it) => printf('%-*S  %-9s  %s', width, it.name, it.state, it.peer[: 7]), Begin)
    endif
  }))
enddef

# Invites a person to a note: {uri} or {id}.
export def InviteTo(target: dict<any>, peer: dict<any>)
  # A running editor answers at once; if there is none, this takes ten seconds.
  const reminder = timer_start(1000, (_) => status.Say($'Inviting {peer.name}…'))
  const Failed = () => timer_stop(reminder)
  service.Request('notes/invite', target->copy()->extend({peer: peer.peer}), commands.Then((result) => {
    timer_stop(reminder)
    const code = result->get('code', '')
    # The digits come first, where no name can stand before them.
    status.Say(code == '' ? $'Invited {peer.name}' : $'Code {Spaced(code)}: invited {peer.name}. :NotesAnswer to confirm')
    view.Refresh()
  }, Failed))
enddef

const accesses = {'can edit': 'write', 'can read': 'read', 'nothing: stop sharing': 'none'}

# Asks what a guest of a note may do.
export def ChooseAccess(target: dict<any>, peer: dict<any>)
  const choices = ['can edit', 'can read', 'nothing: stop sharing']
  Choose($' {peer.name} ', choices, (it) => it, (it) => SetAccess(target, peer, accesses[it]))
enddef

export def SetAccess(target: dict<any>, peer: dict<any>, access: string)
  const words = {write: 'can edit', read: 'can read', none: 'no longer has'}
  service.Request('notes/setAccess', target->copy()->extend({peer: peer.peer, access: access}), commands.Then((_) => {
    status.Say($'{peer.name} {words[access]} this note')
    view.Refresh()
  }))
enddef

# :NotesAccess {person} {write, read or none}
export def Access(arguments: string)
  const note = buffer.Of(bufnr())
  const parts = arguments->matchlist('^\(.\{-}\)\s\+\(write\|read\|none\)$')
  if empty(note) || note.id == ''
    status.NotANote()
  elseif empty(parts)
    status.Warn(':NotesAccess Ben read: or write, or none')
  else
    SetAccess({uri: note.uri}, {peer: parts[1], name: parts[1]}, parts[2])
  endif
enddef

# Asks whether to trust, block or forget a person.
export def ChooseTrust(peer: dict<any>)
  Choose($' {peer.name} ', ['trust', 'block', 'forget'], (it) => it, (it) => Trust(peer.peer, peer.name, it))
enddef

export def Trust(peer: string, name: string, word: string)
  const states = {trust: 'trusted', block: 'blocked', forget: 'forgotten'}
  service.Request('notes/trust', {peer: peer, state: states[word]}, commands.Then((_) => {
    status.Say({trust: $'You trust {name}', block: $'Blocked {name}', forget: $'Forgot {name}'}[word])
    view.Refresh()
  }))
enddef

# Calls the service of another person at an address.
export def Connect(address: string)
  service.Request('notes/connect', {address: address}, commands.Then((_) => {
    status.Say($'Connected to {address}')
    view.Refresh()
  }))
enddef

# Shows the invitations that wait for this user's answer.
export def Answer()
  service.Request('notes/invitations', {}, commands.Then((result) => {
    status.Forget(':NotesAnswer')
    var sent: list<any> = result->get('sent', [])
    const open = result->get('invitations', []) + sent->copy()->filter((_, it) => it.awaitsConfirmation)
    if empty(open)
      status.Say(empty(sent) ? 'No invitations' : NotYet(sent[-1]))
    elseif len(open) == 1
      Decide(open[0])
    else
      Choose(' Invitations ', open, WithDigits, Decide)
    endif
  }))
enddef

# Joins without a ticket: an invitation takes its place.
export def Join()
  service.Request('notes/invitations', {}, commands.Then((result) => {
    if empty(result->get('invitations', []))
      status.Warn(':NotesJoin {ticket} joins; you have no invitations')
    else
      Answer()
    endif
  }))
enddef

def Describe(invitation: dict<any>): string
  const title = invitation->get('title', 'a note')
  if !invitation->has_key('from')
    return $'{invitation.to.name} accepted "{title}"'
  elseif invitation.from->get('changed', false)
    return $'WARNING: {invitation.from.name} is not who you met'
  endif
  return $'{invitation.from.name} invites you to "{title}"{invitation.access ==# "read" ? " (read-only)" : ""}'
enddef

# The digits come first: other people write what follows them.
def WithDigits(invitation: dict<any>): string
  return (invitation->has_key('code') ? $'{Spaced(invitation.code)}  ' : '') .. Describe(invitation)
enddef

# A line about an invitation of this user that has no answer.
def NotYet(invitation: dict<any>): string
  const line = $'{invitation.to.name} has not accepted yet'
  return invitation->has_key('code') ? $'Code {Spaced(invitation.code)}: {line}' : line
enddef

def Decide(invitation: dict<any>)
  const isOurs = invitation->has_key('to')
  # The digits are in the button, where no peer can write.
  const code = invitation->has_key('code') ? Spaced(invitation.code) : ''
  const choices = isOurs
    ? [$'{code} on both screens: share', 'another code, or none: cancel']
    : [code == '' ? 'accept' : $'{code} on both screens: accept', 'decline', $'block {invitation.from.name}']
  Choose($' {Describe(invitation)} ', choices, (it) => it, (chosen) => {
    const index = choices->index(chosen)
    final params = {invitation: invitation.invitation, accept: index == 0}
    if index == 2
      params.block = true
    endif
    if index == 0 && !isOurs
      const name = invitation.from.name
      arrival.Await('notes/answer', params, $'Waiting for {name}… (:NotesGiveUp)',
        $'No answer yet; the note opens when {name} confirms', (_) => view.Refresh())
      return
    endif
    service.Request('notes/answer', params, commands.Then((_) => {
      if !isOurs
        status.Say(index == 2 ? $'Blocked {invitation.from.name}' : 'Declined')
      elseif index != 0
        status.Say('Canceled; nothing was shared')
      endif
      view.Refresh()
    }))
  })
enddef

# Shows the digits that another person's editor shows too, unless an attacker relays the connection. Any key closes them.
export def Verify(name: string)
  service.Request('notes/verify', {peer: name}, commands.Then((result) => {
    final lines: list<string> = ['', $'   {Grouped(result.code)}   ', '', $'   {result.name} must see the same digits.   ', '']
    if result.changed
      lines->extend(['   WARNING: another key uses this name too.   ', '   Someone may pretend to be the person you met.   ', ''])
    endif
    const title = result.changed ? ' WARNING: the key has changed ' : $' Verify {result.name} '
    const highlight = result.changed ? 'ErrorMsg' : 'Pmenu'
    gate.WhenIdle(() => popup_dialog(lines, {title: title, zindex: 210, highlight: highlight, filter: CloseWithAnyKey}))
  }))
enddef

def CloseWithAnyKey(id: number, key: string): bool
  if key !=# "\<Ignore>"
    popup_close(id)
  endif
  return true
enddef

def Grouped(code: string): string
  return range(0, len(code) - 1, 5)->mapnew((_, start) => code[start : start + 4])->join(' ')
enddef

# Lets the user choose one of `items`; a popup that <Esc> closes.
export def Choose(title: string, items: list<any>, Label: func, Do: func)
  final options = {title: title, maxwidth: &columns - 6, zindex: 210, callback: (_, choice) => {
    if choice > 0
      Do(items[choice - 1])
    endif
  }}
  gate.WhenIdle(() => popup_menu(items->mapnew((_, it) => Label(it)), options))
enddef

def Spaced(code: string): string
  return code[: 2] .. ' ' .. code[3 :]
enddef

# All people who can be invited.
export def CompleteName(lead: string, _: string, _: number): list<string>
  const peers = service.Ask('notes/peers', {})->get('peers', [])
  return peers->mapnew((_, it) => it.name)->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef

# What `notes-lsp doctor` reports about this machine; `Done` gets its lines.
export def Diagnose(Done: func(list<string>))
  var lines: list<string> = []
  const command = service.Command()
  # Of the user's options only those about the store concern it.
  var options: list<string> = []
  for option in ['--home', '--notes']
    const index = command->index(option)
    if index > 0 && index + 1 < len(command)
      options->extend([option, command[index + 1]])
    endif
  endfor
  if exepath(command[0]) == ''
    Done(['Not installed, or not on the PATH: ' .. command[0]])
    return
  endif
  job_start([command[0], 'doctor'] + options, {
    out_cb: (_, line) => {
      lines->add(line)
    },
    close_cb: (_) => Done(lines),
    err_io: 'out', in_io: 'null',
  })
enddef
