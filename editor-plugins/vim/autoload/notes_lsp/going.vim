vim9script
# Where the other people are: going there, following them, and pointing out a place to them.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# The person whose caret to go to as soon as it is shown, within two seconds and unless the user does anything: {name, place, since}.
var goingTo: dict<any> = {}

# Goes to a person's caret, or to where they have just pointed, also in another note if a list shows that they are there.
export def Go(name: string)
  final note = buffer.Of(bufnr())
  const peer = presence.Find(note, name)
  if !empty(peer)
    normal! m'
    presence.Go(note, peer)
    return
  endif
  service.Request('notes/open', {near: name}, commands.Then(arrival.Opener((place) => {
    files.Open(place)
    goingTo = {name: place.near, place: [win_getid(), bufnr(), getcurpos()], since: reltime()}
    status.Say($'{place.near} is in this note')
    OnCarets(buffer.Of(bufnr()))
  })))
enddef

# Called when the carets of a note are shown.
export def OnCarets(note: dict<any>)
  if !empty(goingTo) && goingTo.place[1] == note->get('bufnr', 0) && !empty(presence.Find(note, goingTo.name))
    gate.WhenSafe(() => Arrive(note))
  endif
enddef

def Arrive(note: dict<any>)
  const peer = empty(goingTo) ? {} : presence.Find(note, goingTo.name)
  if !empty(peer) && mode(1) ==# 'n' && goingTo.place == [win_getid(), note.bufnr, getcurpos()]
      && reltimefloat(reltime(goingTo.since)) < 2.0
    presence.Go(note, peer)
  endif
  goingTo = {}
enddef

export def Follow(name: string)
  final note = buffer.Of(bufnr())
  if name == '' && presence.IsFollowing(note)
    presence.StopFollowing(note)
    return
  endif
  const peer = presence.Find(note, name)
  if empty(peer)
    status.Warn(name == '' ? 'No one else is in this note' : $'{name} is not in this note')
    return
  endif
  presence.StartFollowing(note, peer)
  status.Say($'Following {peer.name}; moving or typing stops it')
enddef

# Points out this place, or these lines, to the others in the note.
export def Point(count: number, first: number, last: number, text: string)
  const note = commands.Current()
  if empty(note)
    return
  endif
  const at = {line: line('.') - 1, character: col('.') - 1}
  const range = count == 0 ? {start: at, end: at}
    : {start: {line: first - 1, character: 0}, end: {line: last - 1, character: len(getline(last))}}
  const params = {uri: note.uri, version: note.version, rev: note.rev, range: range, text: text}
  service.Request('notes/point', params, commands.Then((result) => status.Say(result->get('message', ''))))
enddef

export def CompletePeer(lead: string, _: string, _: number): list<string>
  return presence.Names(buffer.Of(bufnr()))->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef
