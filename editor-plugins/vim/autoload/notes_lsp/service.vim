vim9script
# The notes-lsp process: starts it when needed, talks to it, and restarts it when it dies.
#
#     stopped ──Start──► starting ──initialize answered──► ready ──Stop──► stopped
#        ▲                   │                               │
#        └──five quick deaths┴──────── dies ◄────────────────┘   (else: starting again after a pause)

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/frames.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/incoming.vim'
import autoload 'notes_lsp/introduction.vim'
import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/presence.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/unsent.vim'

const protocolVersion = 1
# A process that lived shorter than this has died quickly.
const quickDeathSeconds = 10.0
const maximumQuickDeaths = 5
# Milliseconds until the next start, by the number of quick deaths.
const pauses = [50, 200, 500, 1000, 2000, 4000]
const initializeTimeout = 10000
const shutdownTimeout = 3000

var state = 'stopped'
# Whether it stopped because of a failure.
var hasFailed = false
var job: job
var channel: channel
var reader: dict<any> = {}
var server: dict<any> = {}
var incarnation = 0
var startedAt = reltime()
var quickDeaths = 0
var initializeTimer = 0
var restartTimer = 0
# The process whose end starts the next one: two at once would both take in what the buffers have.
var ending = 0
# Whether requests wait until the user has confirmed their name.
var isHeld = false

export def IsReady(): bool
  return state ==# 'ready'
enddef

# stopped, starting, ready, restarting or failed.
export def State(): string
  return state ==# 'stopped' && hasFailed ? 'failed' : state
enddef

# Whether the service restarts by itself.
export def IsRestarting(): bool
  return state ==# 'restarting' || state ==# 'starting'
enddef

# Counts the processes, so that a message meant for one does not go to the next.
export def Incarnation(): number
  return incarnation
enddef

# The service's answer to `initialize`: {serverInfo, capabilities}.
export def Server(): dict<any>
  return server
enddef

# What the service says of the notes protocol and of this user.
export def Said(): dict<any>
  return server->get('capabilities', {})->get('experimental', {})->get('notes', {})
enddef

# This user's name as others see it.
export def PeerName(): string
  return Said()->get('peerName', '')
enddef

# Identifies this run of the service: a buffer that outlives it names it to the next one.
export def Run(): string
  return Said()->get('run', '')
enddef

export def HasUndo(): bool
  return Said()->get('undo', false)
enddef

# Starts the service unless it runs. Returns whether it runs or is about to.
export def Start(): bool
  if state !=# 'stopped'
    return true
  endif
  if &encoding !=# 'utf-8'
    status.Warn(':set encoding=utf-8 first; notes are UTF-8')
    return false
  endif
  quickDeaths = 0
  hasFailed = false
  SetAutocommands()
  if job_status(job) ==# 'run'
    [state, ending] = ['restarting', incarnation]
    return true
  endif
  return Launch()
enddef

# The autocommands for all buffers while there is a service; before that, the plugin costs nothing.
def SetAutocommands()
  augroup notes_lsp_service
    autocmd!
    autocmd SafeState,SafeStateAgain * buffer.OnSafeState()
    autocmd ModeChanged * gate.OnModeChanged()
    autocmd OptionSet endofline,fixendofline,binary buffer.OnOptionSet()
    autocmd ColorScheme * presence.DefineHighlights()
    autocmd VimLeavePre * Stop()
  augroup END
  status.Listen()
enddef

# Where `make install` and a tarball put the program that belongs to this plugin.
const beside = expand('<sfile>:p')->matchstr('^.*\ze/lib/notes-lsp/vim/autoload/notes_lsp/service\.vim$') .. '/bin/notes-lsp'

# The program and its arguments: as set, or what is on the PATH, or what is installed beside the plugin.
export def Command(): list<string>
  const isBeside = !executable('notes-lsp') && beside !=# '/bin/notes-lsp' && executable(beside) == 1
  return g:->get('notes_lsp_command', [isBeside ? beside : 'notes-lsp'])
enddef

def Launch(): bool
  const command = Command()
  if executable(command[0]) == 0
    state = 'stopped'
    hasFailed = true
    status.Warn($'Set g:notes_lsp_command: cannot run {command[0]}')
    pending.FailHeld('')
    return false
  endif
  incarnation += 1
  const mine = incarnation
  startedAt = reltime()
  server = {}
  state = 'starting'
  isHeld = false
  reader = frames.Reader()
  job = job_start(command, {
    in_mode: 'raw', out_mode: 'raw', err_mode: 'nl', noblock: 1, stoponexit: '',
    out_cb: (_, chunk) => OnChunk(mine, chunk),
    err_cb: (_, line) => incoming.Remember(line),
    exit_cb: (_, code) => Guarded(() => OnExit(mine, code)),
  })
  channel = job_getchannel(job)
  if job_status(job) !=# 'run'
    OnExit(mine, -1)
    return false
  endif
  const isSent = Post({method: 'initialize', params: {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: version},
    rootUri: v:null,
    capabilities: {general: {positionEncodings: ['utf-8']}, window: {showDocument: {support: false}}},
    initializationOptions: {notes: Options()},
  }}, (answer) => OnInitialized(mine, answer))
  if !isSent
    # A process that does not read is about to end; OnExit counts it.
    job_stop(job, 'kill')
  endif
  initializeTimer = timer_start(initializeTimeout, (_) => {
    if state ==# 'starting' && mine == incarnation
      incoming.Remember('initialize was not answered in time')
      job_stop(job, 'kill')
    endif
  })
  return true
enddef

const version = $'{v:version / 100}.{v:version % 100}'

def Options(): dict<any>
  final options = {protocol: protocolVersion, introduces: true, client: $'vim {version}'}
  if g:->get('notes_lsp_name', '') != ''
    options.userName = g:notes_lsp_name
  endif
  if g:->has_key('notes_lsp_color')
    options.color = g:notes_lsp_color
  endif
  return options
enddef

def OnInitialized(mine: number, answer: dict<any>)
  if mine != incarnation || state !=# 'starting'
    return
  endif
  timer_stop(initializeTimer)
  const result = answer->get('result', {})
  const encoding = result->get('capabilities', {})->get('positionEncoding', '')
  if answer->has_key('error') || encoding !=# 'utf-8'
    const why = answer->has_key('error') ? answer.error.message : 'it does not use UTF-8 positions'
    Stop()
    hasFailed = true
    status.Warn($'The service failed to start: {why}')
    pending.FailHeld('')
    return
  endif
  server = result
  state = 'ready'
  Notify('initialized', {})
  const theirs = result.capabilities->get('experimental', {})->get('notes', {})->get('protocol', protocolVersion)
  if theirs < protocolVersion
    status.Warn($'Update notes-lsp: it speaks protocol {theirs}, not {protocolVersion}')
  endif
  buffer.OnServiceReady()
  files.OnServiceReady()
  if Said()->get('asksName', false)
    isHeld = true
    introduction.Begin(() => {
      isHeld = false
      SendWaiting()
    })
    return
  endif
  SendWaiting()
enddef

def SendWaiting()
  for [method, params, Done] in pending.TakeHeld()
    Request(method, params, Done)
  endfor
enddef

# The process has ended. Its buffers stay, and are shown to the next one.
def OnExit(mine: number, code: number)
  if mine != incarnation || state ==# 'stopped'
    return
  elseif mine == ending
    Launch()
    return
  endif
  timer_stop(initializeTimer)
  const wasQuick = reltimefloat(reltime(startedAt)) < quickDeathSeconds
  quickDeaths = wasQuick ? quickDeaths + 1 : 1
  state = 'restarting'
  buffer.OnServiceGone()
  pending.FailAsked('The service stopped; try again')
  if quickDeaths >= maximumQuickDeaths
    state = 'stopped'
    hasFailed = true
    pending.FailHeld('')
    status.Warn('The service keeps failing. :NotesDoctor shows why')
    return
  endif
  status.Say('The service stopped and restarts; typing is kept')
  restartTimer = timer_start(pauses[min([quickDeaths, len(pauses)]) - 1], (_) => Guarded(() => {
    if state ==# 'restarting'
      Launch()
    endif
  }))
enddef

# Stops the service cleanly, after it has stored all edits; one that takes too long is killed. Only the end of Vim waits for it.
export def Stop()
  timer_stop(initializeTimer)
  timer_stop(restartTimer)
  const wasReady = state ==# 'ready'
  for note in buffer.All()
    sync.Flush(note, false)
    # A buffer that stays is shown to the next service. The file of one that goes is the service's.
    if v:exiting != v:null
      unsent.Keep(note)
      Notify('textDocument/didClose', {textDocument: {uri: note.uri}})
    endif
  endfor
  const isRunning = state ==# 'ready' || state ==# 'starting'
  [state, hasFailed] = ['stopped', false]
  if isRunning && ch_status(channel) ==# 'open'
    if wasReady
      Write({id: pending.NextId(), method: 'shutdown'})
    endif
    Write({method: 'exit'})
  endif
  if v:exiting != v:null && job_status(job) !=# 'fail'
    unsent.AwaitEnd(job, shutdownTimeout)
  elseif job_status(job) ==# 'run'
    const last = job
    timer_start(shutdownTimeout, (_) => job_stop(last, 'kill'))
  endif
  buffer.OnServiceGone()
  pending.FailAsked('')
enddef

# Sends a request. `Done` gets {result} or {error: {code, message, data}}, always and once. Starts the service.
export def Request(method: string, params: dict<any>, Done: func(dict<any>))
  if state !=# 'ready' || isHeld && method !=# 'notes/setName'
    if state ==# 'ready' || state ==# 'restarting' || Start()
      pending.Hold(method, params, Done)
    else
      # Start has said why. Not at once: the caller may not be ready.
      timer_start(0, (_) => Done(pending.Problem('')))
    endif
  elseif !Post({method: method, params: params}, Done)
    pending.FailLast('The service does not answer; try again')
  endif
enddef

# Writes a request. Returns whether the service is there to read it.
def Post(message: dict<any>, Done: func(dict<any>)): bool
  return Write(message->copy()->extend({id: pending.Expect(Done)}))
enddef

# Puts a message into the pipe, or in front of it. Returns whether the service is there to read it.
export def Write(message: dict<any>): bool
  try
    ch_sendraw(channel, frames.Encode(message))
    return true
  catch
    incoming.Remember(v:exception)
    return false
  endtry
enddef

# Sends a notification. Returns whether it went out; if not, the service is about to be started again.
export def Notify(method: string, params: dict<any>): bool
  return state ==# 'ready' && Write({method: method, params: params})
enddef

def OnChunk(mine: number, chunk: string)
  if mine != incarnation || v:exiting == v:null && (state ==# 'stopped' || mine == ending)
    return
  endif
  var bodies: list<string> = []
  try
    bodies = frames.Receive(reader, chunk)
  catch
    incoming.Remember(v:exception .. ': ' .. chunk->strpart(0, 200)->strtrans())
    job_stop(job, 'kill')
  endtry
  for body in bodies
    Guarded(() => {
      incoming.Take(body)
    })
  endfor
enddef

def Guarded(Act: func())
  try
    Act()
  catch
    status.Trouble(v:exception, v:throwpoint)
  endtry
enddef
