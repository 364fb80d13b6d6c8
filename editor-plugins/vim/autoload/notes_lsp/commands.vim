vim9script
# The verbs behind the commands of plugin/notes_lsp.vim. Results and problems are one line each.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/nearby.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# A callback that tells an error in one line and hands a result on, when the user is not in the middle of something.
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
  const title = given != '' ? given : input('Title of the new note: ')->trim()
  if title == ''
    return
  endif
  service.Request('notes/create', {title: title}, Then((result) => {
    files.Open(result)
    list.Refresh()
  }))
enddef

# Opens a note by title, or by id when `isId`.
export def Open(name: string, isId: bool)
  const asked: dict<any> = isId ? {id: name} : {title: name}
  service.Request('notes/open', asked, Then((result) => files.Open(result)))
enddef

# Calls `Do` with the current buffer as a note, which the service has been shown, or says why it cannot be one.
export def WithNote(Do: func)
  const bufnr = bufnr()
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

def SetId(note: dict<any>, result: dict<any>)
  buffer.Attach(note.bufnr, note.uri, result->get('id', ''))
  files.Know(note.path, note.uri, note.id)
  list.Refresh()
enddef

export def Adopt()
  WithNote((note, Undo) => {
    if note.id != ''
      status.Say('This buffer is a note already.')
      return
    endif
    service.Request('notes/adopt', {uri: note.uri}, Then((result) => {
      SetId(note, result)
      status.Say($'{fnamemodify(note.path, ":t")} is a note now.')
    }, Undo))
  })
enddef

export def Share(isReadOnly: bool)
  WithNote((note, Undo) => {
    const params = {uri: note.uri, access: isReadOnly ? 'read' : 'write'}
    service.Request('notes/share', params, Then((result) => {
      SetId(note, result)
      ShowTicket(result, isReadOnly)
    }, note.id == '' ? Undo : null_function))
  })
enddef

def ShowTicket(result: dict<any>, isReadOnly: bool)
  setreg('"', result.ticket)
  if has('clipboard')
    setreg('+', result.ticket)
  endif
  status.Say($'Ticket{isReadOnly ? " (read only)" : ""} is in register ": {result.ticket}')
  const aloud = result->get('words', '')
  popup_create([result.ticket] + (aloud == '' ? [] : ['', $'Or say: {aloud}']), {
    title: ' Ticket: who joins with it shares this note ', border: [], padding: [0, 1, 0, 1], wrap: true,
    maxwidth: &columns - 6, moved: 'any', time: 30000, zindex: 200, filter: (id, _) => {
      popup_close(id)
      return false
    },
  })
enddef

export def Join(ticket: string)
  if ticket == ''
    nearby.Join()
    return
  endif
  arrival.Await('notes/join', {ticket: ticket}, 'Joining… (:NotesGiveUp)', '', (_) => list.Refresh())
enddef

export def Unshare(peer: string)
  final note = buffer.Of(bufnr())
  if empty(note)
    status.Warn('This buffer is not a note.')
    return
  endif
  final params = {uri: note.uri}
  const found = presence.Find(note, peer)
  if peer != ''
    params.peer = empty(found) ? peer : found.peer
  endif
  service.Request('notes/unshare', params, Then((_) => {
    status.Say(peer == '' ? 'This note is no longer shared.' : $'This note is no longer shared with {peer}.')
  }))
enddef

# The title is the note's; the file follows when it is closed.
export def Rename(given: string)
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.Warn('This buffer is not a note.')
    return
  endif
  const title = given != '' ? given : input('New title: ')->trim()
  if title == ''
    return
  endif
  service.Request('notes/rename', {uri: note.uri, title: title}, Then((_) => {
    list.Refresh()
    status.Say($'This note is called "{title}" now; its file will be when the note is closed.')
  }))
enddef

# `isForEveryone`: also for those with whom the note is shared; each of them can bring it back.
export def Delete(isSure: bool, isForEveryone = false)
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.Warn('This buffer is not a note.')
    return
  endif
  const whose = isForEveryone ? ' for everyone who has it' : ''
  if !isSure && confirm($'Delete this note{whose}? For 30 days :NotesUndelete brings it back.', "&Delete\n&Keep", 2) != 1
    return
  endif
  service.Request('notes/delete', {uri: note.uri, forEveryone: isForEveryone ? true : false}, Then((_) => {
    buffer.Detach(note.bufnr)
    list.Refresh()
    status.Say('Deleted. For 30 days :NotesUndelete brings it back.')
  }))
enddef

# Lets the user choose among the deleted notes; with a title, takes the one that was deleted last.
export def Undelete(title: string)
  service.Request('notes/list', {deleted: true}, Then((result) => {
    final notes = result->get('notes', [])->copy()->filter((_, it) => title == '' || it.title ==# title)
    if empty(notes)
      status.Warn(title == '' ? 'There is no deleted note.' : $'There is no deleted note "{title}".')
    elseif title != ''
      Restore(notes[0].id)
    else
      popup_menu(notes->mapnew((_, it) => it.title), {title: ' Bring back ', callback: (_, choice) => {
        if choice > 0
          Restore(notes[choice - 1].id)
        endif
      }})
    endif
  }))
enddef

def Restore(id: string)
  service.Request('notes/undelete', {id: id}, Then((result) => {
    files.Open(result)
    list.Refresh()
  }))
enddef

# Lists what an overwrite would have lost, in the quickfix list: <CR> there opens one.
export def Recovered()
  service.Request('notes/recovered', {}, Then((result) => {
    const texts = result->get('texts', [])
    if empty(texts)
      status.Say('Nothing had to be recovered.')
      return
    endif
    setqflist([], ' ', {title: 'Recovered texts', items: texts->mapnew((_, it) => (
      {filename: it.path, lnum: 1, text: $'{it.title}, {strftime("%c", it.time / 1000)}: {it.reason}'}))})
    copen
  }))
enddef

export def Status()
  final note = buffer.Of(bufnr())
  const params = empty(note) ? {} : {uri: note.uri}
  if service.State() ==# 'stopped'
    status.Say('The notes service is not running.')
    return
  endif
  service.Request('notes/status', params, Then((result) => status.Say(StatusLine(result))))
enddef

def StatusLine(result: dict<any>): string
  const peers = result->get('peers', [])->copy()->filter((_, it) => it->get('state', '') !=# 'unreachable')->mapnew((_, it) =>
    it.name .. (it->get('inSync', true) ? ' (in sync)' : $' ({it->get("pending", 0)} to go)'))
  const stored = result->get('stored', false) ? 'stored' : 'not stored yet'
  const network = result->get('network', 'on')
  const company = empty(peers) ? 'nobody connected' : peers->join(', ')
  const discovery = result->get('discovery', 'on')
  const trouble = discovery ==# 'on' || discovery ==# 'off' ? '' : $'; {discovery}'
  return $'{stored}; network {network}; {company}{trouble}'
enddef

# Goes to a peer's caret, in the note where it is.
export def Go(name: string)
  final note = buffer.Of(bufnr())
  const peer = presence.Find(note, name)
  if empty(peer)
    status.Warn(name == '' ? 'Nobody else is in this note.' : $'{name} is not in this note.')
    return
  endif
  normal! m'
  presence.Go(note, peer)
enddef

export def Follow(name: string)
  final note = buffer.Of(bufnr())
  if name == '' && presence.IsFollowing(note)
    presence.SetFollowed(note, '')
    status.Say('Not following anybody now.')
    return
  endif
  const peer = presence.Find(note, name)
  if empty(peer)
    status.Warn(name == '' ? 'Nobody else is in this note.' : $'{name} is not in this note.')
    return
  endif
  presence.SetFollowed(note, peer.peer)
  presence.Go(note, peer)
  status.Say($'Following {peer.name}; :NotesFollow again stops.')
enddef

export def Restart()
  service.Stop()
  if service.Start()
    status.Say('The notes service is starting.')
  endif
enddef

export def StopService()
  service.Stop()
  status.Say('The notes service is stopped; your buffers are kept.')
enddef

export def Doctor()
  const command = g:->get('notes_lsp_command', ['notes-lsp'])
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

# What came while somebody typed and waits for an answer.
var missed = ''

# Somebody came, went, or did something worth a line.
export def OnEvent(event: dict<any>)
  const message = event->get('message', '') .. Reply(event)
  if message != ''
    if message =~# '^WARNING'
      status.Warn(message)
    else
      status.Say(message)
    endif
    # Over the last line, where it is shown, the mode is written with the next key.
    if event->get('kind', '') ==# 'invited' && mode() =~# '^[iR]'
      missed = message
      autocmd InsertLeave * ++once timer_start(0, (_) => notes_lsp#commands#SayMissed())
    endif
  endif
  list.Refresh()
enddef

# What to do about an event, where something is to be done.
def Reply(event: dict<any>): string
  const kind = event->get('kind', '')
  return !event->has_key('invitation') ? kind ==# 'keyChanged' ? '. :NotesVerify' : ''
    : kind ==# 'invited' ? '. :NotesAnswer to reply'
    : kind ==# 'accepted' ? ' :NotesAnswer to compare codes' : ''
enddef

# Says it once more.
export def SayMissed()
  if missed != ''
    status.Say(missed)
    missed = ''
  endif
enddef

export def OnStatusChanged(params: dict<any>)
  final note = buffer.WithURI(params->get('uri', ''))
  if !empty(note)
    note.status = params
  endif
  list.Refresh()
  redrawstatus!
enddef

export def CompleteTitle(lead: string, _: string, _: number): list<string>
  const notes = service.Ask('notes/list', {})->get('notes', [])
  return notes->mapnew((_, it) => it.title)->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef

export def CompletePeer(lead: string, _: string, _: number): list<string>
  return presence.Names(buffer.Of(bufnr()))->filter((_, it) => it->tolower()->stridx(lead->tolower()) == 0)
enddef
