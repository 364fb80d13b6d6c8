vim9script
# The condition of a buffer, as the status line and messages show it: a note, read-only, offline, or no longer a note.
# Says "synced" only if the service has proved it for the exact text of the buffer.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/undo.vim'
import autoload 'notes_lsp/unsent.vim'

# How long after a change to ask the service whether all people have it, and the longest pause between two requests.
const firstQuestion = 300
const rarestQuestion = 5000
# The pause if no other person has the note: the answer then proves only that the service has the text.
const questionAlone = 1000
const maximumNames = 3
export const readOnlyLine = 'Read-only. :NotesCopy makes a copy to edit'
const maximumName = 16

const goneWords = {
  deleted: 'deleted', deletedForEveryone: 'deleted for everyone', itemDeleted: 'item deleted',
  textDeleted: 'text deleted', purged: 'removed for good',
  notFound: 'not found', notOpened: 'cannot be opened', renamed: 'plain copy', unloaded: '',
}

# Whether the status lines are waiting to be redrawn.
var isStale = false

export def IsReadOnly(note: dict<any>): bool
  return note->get('access', 'write') ==# 'read'
enddef

# Redraws the status lines, but not while a prompt is on the screen, because that would garble it.
export def Refresh()
  isStale = mode() =~# '^[cr!]'
  if !isStale
    redrawstatus!
  endif
enddef

# A buffer has become a note. The first proof also brings its access and its people.
export def OnAttach(note: dict<any>)
  const bufnr = note.bufnr
  note->extend({access: 'write', proven: 0, prover: 0, patience: firstQuestion, isUnshared: false})
  setbufvar(bufnr, 'notes_lsp_gone', '')
  execute $'autocmd! notes_lsp_condition * <buffer={bufnr}>'
  execute $'autocmd notes_lsp_condition InsertCharPre <buffer={bufnr}> OnCharacter({bufnr})'
  execute $'autocmd notes_lsp_condition BufEnter <buffer={bufnr}> undo.Map({bufnr})'
  ShowStatusLines()
enddef

augroup notes_lsp_condition
  autocmd!
  autocmd SafeState,SafeStateAgain * OnSafeState()
augroup END

# A buffer is a plain file from now on.
export def OnDetach(note: dict<any>)
  timer_stop(note.prover)
  if bufexists(note.bufnr)
    execute $'autocmd! notes_lsp_condition * <buffer={note.bufnr}>'
    SetAccess(note, 'write')
  endif
enddef

# Vim shows no status line with one window, and its default one does not show a note's condition. Keeps one that the user has set.
def ShowStatusLines()
  if !g:->get('notes_lsp_statusline', true)
    return
  endif
  if &laststatus == 1
    set laststatus=2
  endif
  if &g:statusline == ''
    set statusline=%<%f\ %h%m%r%{notes_lsp#Status()}%=%{&ruler?printf('%d,%d',line('.'),col('.')):''}\ %P
  endif
enddef

export def SetAccess(note: dict<any>, access: string)
  if access ==# note.access || !bufexists(note.bufnr)
    return
  endif
  note.access = access
  ShowAccess(note)
enddef

# A reload, and the user, may have set the options otherwise.
export def ShowAccess(note: dict<any>)
  setbufvar(note.bufnr, '&modifiable', note.access !=# 'read')
  setbufvar(note.bufnr, '&readonly', note.access ==# 'read')
  Refresh()
enddef

# The answer that opened the note names this user's access.
export def OnOpened(note: dict<any>, result: dict<any>)
  if !empty(note) && result->get('access', '') ==# 'read' && !IsReadOnly(note)
    SetAccess(note, 'read')
    status.Warn(readOnlyLine)
  endif
enddef

# In Insert mode 'nomodifiable' is too late: Vim lets the user continue typing.
def OnCharacter(bufnr: number)
  final note = buffer.Of(bufnr)
  if !empty(note) && IsReadOnly(note)
    v:char = ''
  endif
enddef

# Vim's own error about 'nomodifiable' does not say what to do.
def OnSafeState()
  if isStale
    Refresh()
  endif
  if v:errmsg =~# '^E21:' && IsReadOnly(buffer.Of(bufnr()))
    v:errmsg = ''
    # The refused key shows that the user has read the last message.
    timer_start(0, (_) => {
      status.OnActivity()
      status.Warn(readOnlyLine)
    })
  endif
enddef

# The events that change what a buffer is. Returns whether this was one.
export def OnEvent(event: dict<any>): bool
  const kind = event->get('kind', '')
  if ['access', 'refused', 'unshared', 'detached', 'moved']->index(kind) < 0
    return false
  endif
  final note = buffer.WithURI(event->get('uri', ''))
  if empty(note)
    # Words of a note that no buffer shows now. Everything else was reported already, in the answer to what this
    # person did.
    const isKept = kind ==# 'refused'
      || kind ==# 'detached' && ['itemDeleted', 'textDeleted']->index(event->get('reason', '')) >= 0
    if isKept && event->get('message', '') != '' || kind ==# 'detached' && IsLastOf(event)
      status.Warn(event.message)
    endif
    # A note can be moved without one of its people while it is not open.
    return kind !=# 'moved'
  endif
  if kind ==# 'access'
    SetAccess(note, event->get('access', 'write'))
  elseif kind ==# 'refused'
    ShowAccess(note)
  elseif kind ==# 'unshared'
    note.isUnshared = true
    SetAccess(note, event->get('access', 'write'))
    note.status = note->get('status', {})->copy()->extend({peers: [], company: []})
    presence.Clear(note)
  elseif kind ==# 'moved'
    note.id = event->get('id', note.id)
    buffer.Publish(note)
  elseif kind ==# 'detached'
    Leave(note, event->get('reason', 'deleted'))
  endif
  status.Tell(event)
  Refresh()
  return true
enddef

# A deleted note has been removed permanently: it can no longer be restored. Returns whether there is still a buffer of it.
def IsLastOf(event: dict<any>): bool
  if event->get('reason', '') !=# 'purged'
    return false
  endif
  const left = range(1, bufnr('$'))->filter((_, bufnr) => getbufvar(bufnr, 'notes_lsp_gone', '') != ''
    && getbufvar(bufnr, 'notes_lsp_gone_id', '') ==# event->get('id', '-'))
  for bufnr in left
    SetGone(bufnr, 'purged')
  endfor
  Refresh()
  return !empty(left)
enddef

def SetGone(bufnr: number, reason: string)
  setbufvar(bufnr, 'notes_lsp_gone', goneWords->get(reason, reason))
  # The text may exist nowhere else, so Vim asks before it closes the buffer.
  if reason ==# 'purged'
    setbufvar(bufnr, '&modified', true)
  endif
enddef

# Makes the buffer a plain file's, and its status line say why.
export def Leave(note: dict<any>, reason: string)
  buffer.Detach(note.bufnr)
  files.Forget(note.path)
  if bufexists(note.bufnr)
    setbufvar(note.bufnr, 'notes_lsp_gone_id', note.id)
    SetGone(note.bufnr, reason)
  endif
  Refresh()
enddef

# {stored, network, peers, access} of a note, as the service reports on its own, or as its answer about the text that
# had this version.
export def OnStatus(note: dict<any>, told: dict<any>, version: number = 0)
  const isFirst = note.proven == 0
  # Before drawing, so that the status line shows what was proved.
  if version > 0
    note.proven = version
    unsent.OnRead(note, version)
    note.patience = firstQuestion
  endif
  note.status = told
  if told->has_key('access')
    const was = note.access
    SetAccess(note, told.access)
    # A view may have brought back the options of a time when the note was read-only.
    if isFirst && bufexists(note.bufnr) && getbufvar(note.bufnr, '&readonly') && !getbufvar(note.bufnr, '&modifiable')
      ShowAccess(note)
    endif
    if was ==# 'write' && IsReadOnly(note) && isFirst
      status.Warn(readOnlyLine)
    endif
  endif
  if !empty(told->get('peers', []))
    note.isUnshared = false
  endif
  Refresh()
  # Later versions were not proved while no other person had the note.
  ProveSoon(note)
enddef

# Soon asks the service whether it and all people have the buffer's text, unless that is known.
export def ProveSoon(note: dict<any>)
  if note.prover == 0 && note.proven != note.version && note.isOpen && note.id != ''
    const isAlone = empty(note->get('status', {})->get('peers', []))
    const delay = isAlone ? max([note.patience, questionAlone]) : note.patience
    note.prover = timer_start(note.proven == 0 ? 0 : delay, (_) => Prove(note))
  endif
enddef

def Prove(note: dict<any>)
  note.prover = 0
  if !service.IsReady() || !note.isOpen || buffer.Of(note.bufnr) isnot note
    return
  endif
  const version = note.version
  service.Request('notes/status', {uri: note.uri}, (answer) => {
    const told = answer->get('result', {})
    # While the note is being opened, the answer is about the service.
    if !answer->has_key('error') && !told->has_key('documents')
      OnStatus(note, told, version)
    else
      note.patience = min([note.patience * 2, rarestQuestion])
      if note.proven == 0 && note.prover == 0
        note.prover = timer_start(note.patience, (_) => Prove(note))
      endif
      ProveSoon(note)
    endif
  })
enddef

# The note in the current buffer in a few words, for a status line; '' in a file that never was one.
export def Line(): string
  final note = buffer.Of(bufnr())
  if empty(note)
    const gone = getbufvar(bufnr(), 'notes_lsp_gone', '')
    return gone == '' ? '' : $'[not a note: {gone}]'
  endif
  const words = Words(note)
  return note.id == '' ? '' : words == '' ? '[note]' : $'[note: {words}]'
enddef

# What the user should know about a note, the most urgent first; '' if no other person has it and all is well.
export def Words(note: dict<any>): string
  if !service.IsReady() || !note.isOpen
    return note.wasOpen || service.State() !~# 'ready\|starting' ? $'offline ({service.State()})' : 'opening'
  endif
  const told = note->get('status', {})
  if told->get('waiting', '') != ''
    return $'waiting for {told.waiting}'
  endif
  final words: list<string> = []
  if unsent.IsLate(note)
    words->add('not stored')
  endif
  words->extend(Company(note, told))
  if note.isUnshared
    words->add('no longer shared')
  endif
  return words->join('; ')
enddef

# How the note and the other people's copies are, as the service words it. It says of a text that was not proved that it is being sent.
def Company(note: dict<any>, told: dict<any>): list<string>
  const isProven = note.proven == note.version && note.info->get('synced', false)
  const pieces = told->get('company', [])->mapnew((_, it) => (isProven ? it.text : it->get('whenLater', it.text))
    .. (it->has_key('name') ? presence.Arrow(note, it.name) : ''))
  final words: list<string> = empty(pieces) ? [] : [pieces->join('')]
  # People whose carets arrive through other peers.
  const listed = told->get('peers', [])->mapnew((_, it) => it.name)
  const others = presence.Names(note)->filter((_, name) => listed->index(name) < 0)
  if len(others) > maximumNames
    words->add($'with {len(others)} people')
  elseif !empty(others)
    words->add($'with {others->mapnew((_, name) => Short(name) .. presence.Arrow(note, name))->join(", ")}')
  endif
  return words
enddef

def Short(name: string): string
  return strcharlen(name) <= maximumName ? name : name->strcharpart(0, maximumName - 1) .. '…'
enddef

# Answers :NotesStatus: one line about the current buffer.
export def Status()
  final note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    const gone = getbufvar(bufnr(), 'notes_lsp_gone', '')
    const about = gone == '' ? 'Not a note (:NotesAdopt makes it one)' : $'Not a note any more: {gone}'
    status.Say($'{about}. Service {service.State() ==# "ready" ? "running" : service.State()}')
  elseif !service.IsReady()
    status.Say($'Offline: service {service.State()}; typing is kept. :NotesRestart')
  else
    service.Request('notes/status', {uri: note.uri}, commands.Then((result) => {
      # The answer is about the service.
      if result->has_key('documents')
        status.Warn('The service has not opened this note yet')
        return
      endif
      OnStatus(note, result)
      const discovery = result->get('discovery', 'on')
      const words = Words(note) ?? 'not shared'
      # The words begin with the reason why it is not stored, if there is one.
      const stored = result->get('stored', false) ? 'Stored; ' : words =~# '^not stored' ? '' : 'Not stored yet; '
      status.Say((stored .. words)->substitute('^.', '\u&', '')
        .. (discovery ==# 'on' || discovery ==# 'off' ? '' : $'; {discovery}'))
    }))
  endif
enddef
