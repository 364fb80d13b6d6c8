vim9script
# What the commands of plugin/notes_lsp.vim do. Results and problems are one line each.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/ticket.vim'

# Returns a callback that shows an error on one line and passes a result on, when the user is not in the middle of something.
export def Then(Do: func, Failed: func = null_function): func(dict<any>)
  return (answer) => {
    if answer->has_key('error')
      if Failed != null
        Failed()
      endif
      status.Warn(answer.error.message)
      return
    endif
    const result = answer->get('result', {})
    gate.WhenSafe(() => Do(type(result) == v:t_dict ? result : {}))
  }
enddef

export def New(given: string)
  const title = given != '' ? given : status.Ask('Title: ')
  if title == ''
    return
  endif
  service.Request('notes/create', {title: title}, Then((result) => {
    files.Open(result)
    view.Refresh()
  }))
enddef

# A note that teaches by doing: a robot of the service types in it.
export def Tutorial()
  service.Request('notes/tutorial', {keys: 'vim'}, Then((result) => Visit(result)))
enddef

# Opens what an answer names.
export def Visit(result: dict<any>)
  files.Open(result)
  view.Refresh()
enddef

# Opens a note by title, or by id when `isId`.
export def Open(name: string, isId: bool)
  const asked: dict<any> = isId ? {id: name} : {title: name}
  service.Request('notes/open', asked, Then((result) => files.Open(result)))
enddef

# Calls `Do` with the current buffer as a note that the service knows, or says why it cannot be one.
export def WithNote(Do: func)
  WithBuffer(bufnr(), Do)
enddef

def WithBuffer(bufnr: number, Do: func)
  const existing = buffer.Of(bufnr)
  if !empty(existing)
    Do(existing, () => {
    })
    return
  endif
  const problem = files.WhyNoNote(bufnr)
  if problem != ''
    status.Warn(problem)
    return
  endif
  if service.Start()
    final note = buffer.Attach(bufnr, files.URI(bufname(bufnr)), '')
    Do(note, () => buffer.Detach(bufnr))
  endif
enddef

# Calls `Do` with the buffer as a note, which it becomes if it is none.
export def WithAdopted(bufnr: number, Do: func)
  WithBuffer(bufnr, (note, Undo) => {
    if note.id != ''
      Do(note)
      return
    endif
    service.Request('notes/adopt', {uri: note.uri}, Then((result) => {
      SetId(note, result)
      Do(note)
    }, Undo))
  })
enddef

def SetId(note: dict<any>, result: dict<any>)
  buffer.Attach(note.bufnr, note.uri, result->get('id', ''))
  files.Know(note.path, note.uri, note.id)
  view.Refresh()
enddef

export def Adopt()
  WithNote((note, Undo) => {
    if note.id != ''
      status.Say('Already a note')
      return
    endif
    service.Request('notes/adopt', {uri: note.uri}, Then((result) => {
      SetId(note, result)
      status.Say($'{fnamemodify(note.path, ":t")} is a note now')
    }, Undo))
  })
enddef

# Shares the current buffer. `options`: read, uses=3, hours=2, days=7.
export def Share(isReadOnly: bool, options: string)
  const strange = options->split()->filter((_, it) => it !~# '^\(read\|\(uses\|hours\|days\)=\d\+\)$')
  if !empty(strange)
    status.Warn($'"{strange[0]}" is no option; :NotesShare read uses=3 days=7')
    return
  endif
  final params: dict<any> = {access: isReadOnly || options =~# '\<read\>' ? 'read' : 'write', qr: &encoding ==# 'utf-8'}
  for [name, member, factor] in [['uses', 'uses', 1], ['hours', 'expiresIn', 3600], ['days', 'expiresIn', 86400]]
    const number = options->matchstr($'\<{name}=\zs\d\+')
    if number != ''
      params[member] = str2nr(number) * factor
    endif
  endfor
  WithNote((note, Undo) => {
    service.Request('notes/share', params->extend({uri: note.uri}), Then((result) => {
      SetId(note, result)
      ticket.Take(result)
    }, note.id == '' ? Undo : null_function))
  })
enddef

# A ticket for the note of a list.
export def ShareNote(target: dict<any>)
  const params = target->copy()->extend({qr: &encoding ==# 'utf-8'})
  service.Request('notes/share', params, Then((result) => ticket.Take(result)))
enddef

export def Join(given: string)
  if given == ''
    nearby.Join()
    return
  endif
  arrival.Await('notes/join', {ticket: given}, 'Joining… (:NotesGiveUp)', '', (_) => view.Refresh())
enddef

export def Unshare(peer: string)
  final note = buffer.Of(bufnr())
  if empty(note)
    status.NotANote()
    return
  endif
  final params = {uri: note.uri}
  const found = presence.Find(note, peer)
  if peer != ''
    params.peer = empty(found) ? peer : found.peer
  endif
  service.Request('notes/unshare', params, Then((_) => {
    if peer == ''
      note.isUnshared = true
    endif
    condition.Refresh()
    status.Say(peer == '' ? 'No longer shared' : $'No longer shared with {peer}')
  }))
enddef

# Removes a person from the current note permanently: the others go on in a new copy. `isSure`: without asking.
export def Remove(isSure: bool, name: string)
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.NotANote()
    return
  endif
  const found = presence.Find(note, name)
  sync.Flush(note, false)
  RemovePerson({uri: note.uri}, empty(found) ? name : found.peer, isSure)
enddef

# `peer`: an id or a name. Checks that the note is shared with this person before it asks the user.
export def RemovePerson(target: dict<any>, peer: string, isSure = false)
  const params = target->copy()->extend({peer: peer, moveOn: true})
  service.Request('notes/remove', params->copy()->extend({check: !isSure}), Then((result) => {
    if isSure
      view.Refresh()
    elseif status.Confirm($'Go on without {result.name}, who keeps a copy?', "&Remove\n&Cancel", 2) == 1
      RemovePerson(target, peer, true)
    endif
  }))
enddef

# The title is the note's; the file follows when it is closed.
export def Rename(given: string)
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.NotANote()
    return
  endif
  RenameNote({uri: note.uri, title: fnamemodify(note.path, ':t:r')}, given)
enddef

# `target`: {id, item?} or {uri}, and the title that it has.
export def RenameNote(target: dict<any>, given = '')
  const title = given != '' ? given : status.Ask('New title: ', target.title)
  # The file's name may be a former title: the file follows when it is closed.
  if title == '' || given == '' && title ==# target.title
    return
  endif
  service.Request('notes/rename', Reference(target)->extend({title: title}), Then((_) => {
    view.Refresh()
    status.Say($'Renamed to "{title}" (file follows on close)')
  }))
enddef

# The parameters that name the note of a row.
export def Reference(row: dict<any>): dict<any>
  return row->copy()->filter((member, _) => ['uri', 'id', 'item']->index(member) >= 0 && (member !=# 'uri' || !row->has_key('id')))
enddef

# Lists what an overwrite would have lost, in the quickfix list: <CR> there opens one.
export def Recovered()
  service.Request('notes/recovered', {}, Then((result) => {
    const texts = result->get('texts', [])
    if empty(texts)
      status.Say('No recovered text')
      return
    endif
    setqflist([], ' ', {title: 'Recovered texts', items: texts->mapnew((_, it) => (
      {filename: it.path, lnum: 1, text: $'{it.title}, {strftime("%c", it.time / 1000)}: {it.reason}'}))})
    copen
  }))
enddef

# All messages, also those that passed quickly.
export def Log()
  list.Show('[Notes log]', status.Told())
  cursor('$', 1)
enddef

export def Restart()
  service.Stop()
  if service.Start()
    status.Say('The service is starting')
  endif
enddef

export def StopService()
  service.Stop()
  status.Say('Service stopped; typing is kept. :NotesRestart')
enddef

export def Doctor()
  const command = service.Command()
  const server = service.Server()->get('serverInfo', {})
  var report = [
    $'Vim            {v:version / 100}.{v:version % 100}.{v:versionlong % 10000}',
    $'encoding       {&encoding}',
    $'command        {command->join(" ")}',
    $'found          {exepath(command[0]) == "" ? "no" : exepath(command[0])}',
    $'service        {service.State()}',
    $'version        {server->get("name", "?")} {server->get("version", "?")}',
  ]
  for note in buffer.All()
    report->add($'note           {note.path} version {note.version} rev {note.rev} {note.bytes} bytes, '
      .. $'{len(note.queue)} waiting')
  endfor
  report->extend(['', 'What the service said last:'] + service.Log())
  list.Show('[Notes doctor]', report)
  nearby.Diagnose((lines: list<string>) => {
    list.Append('[Notes doctor]', ['', 'What the service finds here:'] + lines)
  })
enddef

# Reports what other people or the service have done.
export def OnEvent(event: dict<any>)
  if event->get('kind', '') ==# 'pointed'
    presence.OnPointed(buffer.WithURI(event->get('uri', '')), event)
  endif
  if !condition.OnEvent(event)
    # An answer that needs a confirmation names the invitation.
    const isUrgent = event->has_key('invitation')
      || ['declined', 'deleted', 'forged', 'keyChanged', 'repeated', 'waiting']->index(event->get('kind', '')) >= 0
    const message = event->get('message', '') == '' ? '' : Sentences(condition.Message(event), Reply(event))
    if isUrgent || message =~# '^WARNING'
      status.Warn(message)
    else
      status.Say(message)
    endif
  endif
  files.OnPlaced(event)
  # A meeting may have a hundred items, and lists show none.
  if event->get('kind', '') !=# 'created' || !event->has_key('item')
    view.Refresh()
  endif
enddef

# A message and what to do about it, with one punctuation mark between them.
def Sentences(message: string, reply: string): string
  return message .. (message =~# '[.?!…]$' ? reply->substitute('^\.', '', '') : reply)
enddef

# What the user can do about an event, if anything.
def Reply(event: dict<any>): string
  const kind = event->get('kind', '')
  const replies = {keyChanged: '. :NotesVerify', away: '. :NotesDiff', pointed: $'. :NotesGo {event->get("name", "")}'}
  return !event->has_key('invitation') ? replies->get(kind, '')
    : kind ==# 'invited' ? '. :NotesAnswer to reply'
    : kind ==# 'accepted' ? ' :NotesAnswer to compare codes' : ''
enddef

export def OnStatusChanged(params: dict<any>)
  final note = buffer.WithURI(params->get('uri', ''))
  if !empty(note)
    condition.OnStatus(note, params)
  endif
  view.Refresh()
enddef

export def CompleteTitle(lead: string, _: string, _: number): list<string>
  const notes = service.Ask('notes/list', {})->get('notes', [])
  return notes->mapnew((_, it) => it.title)->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef

export def CompleteShare(lead: string, _: string, _: number): list<string>
  return ['read', 'uses=1', 'hours=1', 'days=7']->filter((_, it) => it->stridx(lead) == 0)
enddef
