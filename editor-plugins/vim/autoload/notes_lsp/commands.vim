vim9script
# What the commands of plugin/notes_lsp.vim do. Results and problems are one line each.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/definitions.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/incoming.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/text.vim'
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

# A command of definitions.vim that asks for what is missing, makes one request, and says what came of it.
#
# given: its argument, or ''; row: of a list, instead of the current buffer's note; isSure: without asking
export def CarryOut(command: string, given: string, row: dict<any> = {}, isSure = false)
  const flow = definitions.flows[command]
  const isItem = empty(row) && buffer.Of(bufnr())->get('status', {})->get('item', false)
  const question = flow->get(isItem ? 'confirmItem' : 'confirm', flow->get('confirm', ''))
  const target = flow->has_key('about') ? (empty(row) ? Target(flow.about) : Reference(row)) : {}
  if flow->has_key('about') && empty(target)
    status.NotANote()
    return
  elseif question != '' && !isSure && status.Confirm(question, "&Delete\n&Keep", 2) != 1
    return
  endif
  # The file's name may be a former title: the file follows when it is closed.
  const title = command ==# 'NotesRename' ? buffer.Of(bufnr())->get('status', {})->get('title', '') : ''
  const former = row->get('title', title)
  if flow->has_key('first') && given == ''
    # Say what is impossible before asking for anything.
    service.Request(flow.first, copy(target), Then((_) => AskAndSend(flow, target, given, former)))
  else
    AskAndSend(flow, target, given, former)
  endif
enddef

def AskAndSend(flow: dict<any>, target: dict<any>, given: string, former: string)
  var value = given
  final params = copy(target)
  if flow->has_key('argument')
    value = given == '' && flow->has_key('prompt') ? status.Ask(flow.prompt, former) : given
    if value == '' || given == '' && value ==# former
      return
    endif
    params[flow.argument] = flow->has_key('isFile') ? files.Absolute(value) : value
  endif
  const Open = arrival.Opener()
  service.Request(flow.method, params->extend(flow->get('params', {})), Then((result) => {
    if flow->has_key('opens')
      Open(result)
    endif
    view.Refresh()
    status.Say(flow->get('say', result->get('message', ''))->split('{}', true)->join(value))
  }))
enddef

# The parameters that name the current buffer's note, or the one that a list is about; {} if there is none.
def Target(about: string): dict<any>
  const note = buffer.Of(bufnr())
  if about ==# 'list' && view.Target()->has_key('id')
    return view.Target()->copy()
  endif
  return empty(note) || note.id == '' ? {} : {uri: note.uri}
enddef

# The current buffer's note, with what was typed sent; if it is not a note, empty, with a message.
export def Current(): dict<any>
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.NotANote()
    return {}
  endif
  sync.Flush(note, false)
  return note
enddef

# Calls `Do` with the buffer as a note that the service knows, or says why it cannot be one.
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
  if buffer.Of(bufnr())->get('id', '') != ''
    status.Say('Already a note')
    return
  endif
  WithAdopted(bufnr(), (note) => status.Say($'{fnamemodify(note.path, ":t")} is a note now'))
enddef

# Makes a new note with the text of the current buffer, and opens it.
export def Copy(given: string)
  final note = buffer.Of(bufnr())
  const title = given != '' ? given : fnamemodify(bufname(), ':t:r') .. ' copy'
  const [method, params] = empty(note) || note.id == ''
    ? ['notes/create', {title: title, text: text.OfBuffer(bufnr(), false)->join("\n")}]
    : ['notes/copy', {title: title, uri: note.uri}]
  const Open = arrival.Opener()
  service.Request(method, params, Then((result) => {
    Open(result)
    view.Refresh()
    status.Say($'Copied to "{title}", which is yours alone')
  }))
enddef

# Shares the current buffer. `options`: read, uses=3, hours=2, days=7.
export def Share(isReadOnly: bool, options: string)
  final params: dict<any> = {access: isReadOnly ? 'read' : 'write', options: options}
  if view.NoteId() != ''
    ShareNote(params->extend({id: view.NoteId()}))
    return
  endif
  params->extend(ticket.Wanted())
  WithBuffer(bufnr(), (note, Undo) => {
    service.Request('notes/share', params->extend({uri: note.uri}), Then((result) => {
      SetId(note, result)
      ticket.Take(result)
    }, note.id == '' ? Undo : null_function))
  })
enddef

# A ticket for the note of a list.
export def ShareNote(target: dict<any>)
  service.Request('notes/share', ticket.Wanted()->extend(target), Then((result) => ticket.Take(result)))
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
  service.Request('notes/unshare', params, Then((result) => {
    note.isUnshared = note.isUnshared || peer == ''
    condition.Refresh()
    status.Say(result->get('message', 'No longer shared'))
  }))
enddef

# Removes a person from the current note permanently: the others go on in a new copy. `isSure`: without asking.
export def Remove(isSure: bool, name: string)
  const note = Current()
  if empty(note)
    return
  endif
  const found = presence.Find(note, name)
  RemovePerson({uri: note.uri}, empty(found) ? name : found.peer, isSure)
enddef

# `peer`: an id or a name. Checks that the note is shared with this person before it asks the user.
export def RemovePerson(target: dict<any>, peer: string, isSure = false)
  const params = target->copy()->extend({peer: peer, moveOn: true})
  service.Request('notes/remove', params->copy()->extend({check: !isSure}), Then((result) => {
    if isSure
      view.Refresh()
    elseif status.Confirm($'Remove {result.name} (a copy stays with them)?', "&Remove\n&Cancel", 2) == 1
      RemovePerson(target, peer, true)
    endif
  }))
enddef

# The parameters that name the note of a row.
export def Reference(row: dict<any>): dict<any>
  return row->copy()->filter((member, _) => ['uri', 'id', 'item']->index(member) >= 0 && (member !=# 'uri' || !row->has_key('id')))
enddef

# Lists what an overwrite would have lost, in the quickfix list: <CR> there opens one.
export def Recovered()
  const Open = arrival.Opener((_) => execute('copen'), 'The list')
  service.Request('notes/recovered', {}, Then((result) => {
    const texts = result->get('texts', [])
    if empty(texts)
      status.Say('No recovered text')
      return
    endif
    setqflist([], ' ', {title: 'Recovered texts', items: texts->mapnew((_, it) => (
      {filename: it.path, lnum: 1, text: $'{it.title}, {strftime("%c", it.time / 1000)}: {it.reason}'}))})
    Open({})
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
  report->extend(['', 'What the service said last:'] + incoming.Log())
  list.Show('[Notes doctor]', report)
  nearby.Diagnose((lines: list<string>) => {
    list.Append('[Notes doctor]', ['', 'What the service finds here:'] + lines)
  })
enddef

# Reports what other people or the service have done.
export def OnEvent(event: dict<any>)
  const kind = event->get('kind', '')
  if !condition.OnEvent(event)
    status.Tell(event)
  endif
  if kind ==# 'pointed'
    presence.OnPointed(buffer.WithURI(event->get('uri', '')), event)
  endif
  files.OnPlaced(event)
  if kind ==# 'tickets'
    ticket.Revoked(event.id)
  endif
  # A meeting may have a hundred items, and lists show none.
  if kind !=# 'created' || !event->has_key('item')
    view.Refresh()
  endif
enddef

export def OnStatusChanged(params: dict<any>)
  final note = buffer.WithURI(params->get('uri', ''))
  if !empty(note)
    condition.OnStatus(note, params)
  endif
  view.Refresh()
enddef

export def CompleteTitle(lead: string, _: string, _: number): list<string>
  const notes = pending.Ask('notes/list', {})->get('notes', [])
  return notes->mapnew((_, it) => it.title)->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef

export def CompleteShare(lead: string, _: string, _: number): list<string>
  return ['read', 'uses=1', 'hours=1', 'days=7']->filter((_, it) => it->stridx(lead) == 0)
enddef
