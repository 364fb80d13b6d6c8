vim9script
# People nearby: inviting them, and answering their invitations.

import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/pending.vim'
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
    Told(result)
  }, Failed))
enddef

# Says what the service says that a request has done, and shows it in the lists.
export def Told(result: dict<any>)
  status.Say(result->get('message', ''))
  view.Refresh()
enddef

const accesses = {'can edit': 'write', 'can read': 'read', 'nothing: stop sharing': 'none'}

# Asks what a guest of a note may do.
export def ChooseAccess(target: dict<any>, peer: dict<any>)
  const choices = ['can edit', 'can read', 'nothing: stop sharing']
  Choose($' {peer.name} ', choices, (it) => it, (it) => SetAccess(target, peer, accesses[it]))
enddef

export def SetAccess(target: dict<any>, peer: dict<any>, access: string)
  service.Request('notes/setAccess', target->copy()->extend({peer: peer.peer, access: access}), commands.Then(Told))
enddef

# :NotesAccess {person} {write, read or none}
export def Access(arguments: string)
  const note = buffer.Of(bufnr())
  const parts = arguments->matchlist('^\(.\{-}\)\s\+\(write\|read\|none\)$')
  if empty(note) || note.id == ''
    status.NotANote()
  elseif empty(parts)
    status.Warn(':NotesAccess Ben read (or write, or none)')
  else
    SetAccess({uri: note.uri}, {peer: parts[1], name: parts[1]}, parts[2])
  endif
enddef

# Asks whether to trust, block or forget a person.
export def ChooseTrust(peer: dict<any>)
  Choose($' {peer.name} ', ['trust', 'block', 'forget'], (it) => it, (it) => Trust(peer.peer, it))
enddef

export def Trust(peer: string, word: string)
  const states = {trust: 'trusted', block: 'blocked', forget: 'forgotten'}
  service.Request('notes/trust', {peer: peer, state: states[word]}, commands.Then(Told))
enddef

# Shows the invitations that wait for this user's answer.
export def Answer()
  service.Request('notes/invitations', {}, commands.Then((result) => {
    status.Forget(':NotesAnswer')
    const open = result.open
    if len(open) > 1
      Choose(' Invitations ', open, (it) => it.line, Decide)
    elseif !empty(open)
      Decide(open[0])
    else
      status.Say(result->get('message', ''))
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

def Decide(invitation: dict<any>)
  Choose($' {invitation.title} ', invitation.choices, (it) => it.label, (choice) => {
    final params = {invitation: invitation.invitation, accept: choice.accept}
    if choice->has_key('block')
      params.block = true
    endif
    if choice->has_key('message')
      service.Request('notes/answer', params, commands.Then((_) => Told(choice)))
    else
      arrival.Await('notes/answer', params, $'{choice.waiting}… (:NotesGiveUp)', choice.still, (_) => view.Refresh())
    endif
  })
enddef

# Shows the digits that another person's editor shows too, unless an attacker relays the connection. Any key closes them.
export def Verify(name: string)
  service.Request('notes/verify', {peer: name}, commands.Then((result) => {
    const title = result.changed ? ' WARNING: the key has changed ' : $' Verify {result.name} '
    gate.WhenIdle(() => popup_dialog([''] + result.lines + [''], {title: title, zindex: 210, padding: [0, 3, 0, 3],
      highlight: result.changed ? 'ErrorMsg' : 'Pmenu', filter: CloseWithAnyKey}))
  }))
enddef

def CloseWithAnyKey(id: number, key: string): bool
  if key !=# "\<Ignore>"
    popup_close(id)
  endif
  return true
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

# All people who can be invited.
export def CompleteName(lead: string, _: string, _: number): list<string>
  const peers = pending.Ask('notes/peers', {})->get('peers', [])
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
