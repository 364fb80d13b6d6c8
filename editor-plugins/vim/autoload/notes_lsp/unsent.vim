vim9script
# Words that the service may not have read: it may hang, and then be killed. When their buffer goes, they are kept in a file.
#
#     buffer gone ──► kept in a file ──the service answers──► file removed
#                           └──it hangs──► the user is told; the next service takes the file

import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/incoming.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# Words count as not stored when the service has not read them for this many seconds.
const readingTime = 2.0
# How long an answer may take before the user is told, in milliseconds; and at the end of Vim, which waits meanwhile.
const patience = 3000
const lastPatience = 500

# The folder for such files, and the name that the last service gives itself.
var place: dict<string> = {folder: '', run: ''}
# The files whose words the service may still read.
var files: dict<bool> = {}
var keptCount = 0

def FindPlace()
  if service.IsReady()
    place = {folder: service.Said()->get('unsent', ''), run: service.Run()}
  endif
enddef

# The note's version was raised: the service has something to read.
export def OnSent(note: dict<any>)
  FindPlace()
  if empty(note.unread)
    Await(note)
  endif
enddef

# The service has proved that it has read the text of this version.
export def OnRead(note: dict<any>, version: number)
  if version <= note.read
    return
  endif
  note.read = version
  if version < note.version
    Await(note)
  else
    note.unread = []
    note.isLate = false
  endif
enddef

def Await(note: dict<any>)
  note.unread = reltime()
  timer_start(float2nr(readingTime * 1000) + 50, (_) => {
    if IsLate(note) && !note.isLate
      note.isLate = true
      condition.Refresh()
    endif
  })
enddef

# Whether the service has not read the note for so long that its words must count as not stored.
export def IsLate(note: dict<any>): bool
  return !empty(note.unread) && reltimefloat(reltime(note.unread)) >= readingTime
enddef

# Call before a buffer's text goes. What the file has is safe.
export def Keep(note: dict<any>)
  FindPlace()
  if place.folder == '' || note.id == '' || [note.read, note.kept]->index(note.version) >= 0
      || !getbufvar(note.bufnr, '&modified')
    return
  endif
  keptCount += 1
  const path = $'{place.folder}/{note.id->substitute("[^A-Za-z0-9]", "", "g")}-{getpid()}-{keptCount}.json'
  try
    Write(path, json_encode({
      id: note.id, uri: note.uri, run: place.run, time: localtime() * 1000 + keptCount % 1000, text: note.shadow->join("\n"),
    }))
  catch
    status.Trouble(v:exception, v:throwpoint)
    return
  endtry
  note.kept = note.version
  if service.IsReady()
    Ask(path)
  endif
enddef

def Write(path: string, content: string)
  mkdir(fnamemodify(path, ':h'), 'p', 0o700)
  # Only its owner may read it, from the first byte on.
  const draft = path .. '~'
  writefile([], draft)
  setfperm(draft, 'rw-------')
  writefile([content], draft)
  rename(draft, path)
enddef

# An answer proves that the service has read everything before the question.
def Ask(path: string)
  const mine = service.Incarnation()
  files[path] = true
  service.Request('notes/status', {}, (answer) => {
    const isWaiting = files->has_key(path)
    Forget(path)
    if isWaiting && answer->has_key('result') && mine == service.Incarnation()
      delete(path)
    endif
  })
  timer_start(patience, (_) => {
    if files->has_key(path)
      status.Urge(Line())
    endif
  })
enddef

def Forget(path: string)
  if files->has_key(path)
    files->remove(path)
  endif
enddef

def Line(): string
  return $'The service hangs; your words are in {place.folder->fnamemodify(":~")}'
enddef

# Waits until the service has ended, which it does when all is stored; not forever for one that hangs.
export def AwaitEnd(job: job, timeout: number)
  const start = reltime()
  var isTold = false
  while job_status(job) ==# 'run' && reltimefloat(reltime(start)) * 1000 < timeout
    if !isTold && !empty(files) && reltimefloat(reltime(start)) * 1000 >= lastPatience
      isTold = true
      incoming.Remember(Line())
      redraw
      echohl WarningMsg
      echo $'Notes: {Line()}'->strpart(0, v:echospace)
      echohl None
    endif
    sleep 2m
  endwhile
  const end = job_info(job)
  if end.status ==# 'dead' && end.exitval == 0 && end->get('termsig', '') == ''
    for path in files->keys()
      delete(path)
    endfor
    files = {}
  endif
enddef
