vim9script
# Where the other people are: going there, following them, and pointing out a place to them.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/sync.vim'

# The person whose caret to go to as soon as it is shown, in the note just opened.
var goingTo = ''

# Goes to a person's caret, or to where they have just pointed, also in another note if a list shows that they are there.
export def Go(name: string)
  final note = buffer.Of(bufnr())
  const peer = presence.Find(note, name)
  if !empty(peer)
    normal! m'
    presence.Go(note, peer)
    return
  endif
  service.Request('notes/open', {near: name}, commands.Then((place) => {
    goingTo = place.near
    files.Open(place)
    status.Say($'{goingTo} is in this note')
  }))
enddef

# Called when the carets of a note are shown.
export def OnCarets(note: dict<any>)
  if goingTo != '' && note.bufnr == bufnr()
    const peer = presence.Find(note, goingTo)
    if !empty(peer)
      goingTo = ''
      presence.Go(note, peer)
    endif
  endif
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
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.NotANote()
    return
  endif
  sync.Flush(note, false)
  const at = {line: line('.') - 1, character: col('.') - 1}
  const range = count == 0 ? {start: at, end: at}
    : {start: {line: first - 1, character: 0}, end: {line: last - 1, character: len(getline(last))}}
  const params = {uri: note.uri, version: note.version, rev: note.rev, range: range, text: text}
  service.Request('notes/point', params, commands.Then((result) => status.Say(result->get('message', ''))))
enddef

export def CompletePeer(lead: string, _: string, _: number): list<string>
  return presence.Names(buffer.Of(bufnr()))->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef
