vim9script
# Scratch buffers: the live list of notes, the list of people, and plain reports.

import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

const listName = '[Notes]'
const peersName = '[Notes peers]'
# Lists on the screen are asked for again this often, besides at every event.
const refreshInterval = 3000

var ids: list<string> = []
var refreshTimer = 0

# Shows the list of notes; <CR> opens one.
export def ShowNotes()
  Show(listName, [])
  nnoremap <buffer> <silent> <CR> <ScriptCmd>OpenUnderCursor()<CR>
  nnoremap <buffer> <silent> r <ScriptCmd>Refresh()<CR>
  StartRefreshing()
enddef

export def ShowPeers()
  Show(peersName, [])
  StartRefreshing()
enddef

def OpenUnderCursor()
  const index = line('.') - 1
  if index < len(ids)
    commands.Open(ids[index], true)
  endif
enddef

def StartRefreshing()
  Refresh()
  timer_stop(refreshTimer)
  refreshTimer = timer_start(refreshInterval, (timer) => {
    if bufwinid(Number(listName)) < 0 && bufwinid(Number(peersName)) < 0
      timer_stop(timer)
    elseif service.IsReady()
      Refresh()
    endif
  }, {repeat: -1})
enddef

# Asks for what the lists on the screen show.
export def Refresh()
  if bufwinid(Number(listName)) > 0
    service.Request('notes/list', {}, (answer) => Fill(listName, answer, NoteLines))
  endif
  if bufwinid(Number(peersName)) > 0
    service.Request('notes/peers', {}, (answer) => Fill(peersName, answer, PeerLines))
  endif
enddef

def Fill(name: string, answer: dict<any>, Lines: func(dict<any>): list<string>)
  const bufnr = Number(name)
  if bufnr < 0
    return
  elseif answer->has_key('error')
    if service.IsReady()
      status.Warn(answer.error.message)
    endif
    return
  endif
  SetLines(bufnr, Lines(answer.result))
enddef

def NoteLines(result: dict<any>): list<string>
  const notes = result->get('notes', [])
  files.KnowAll(notes)
  ids = notes->mapnew((_, it) => it.id)
  if empty(notes)
    return ['No notes yet. :NotesNew makes one, :NotesJoin joins one']
  endif
  const width = notes->mapnew((_, it) => strdisplaywidth(it.title))->max()
  return notes->mapnew((_, it) => {
    const unread = it->get('unread', false) ? '*' : ' '
    const words = type(it->get('words', '')) == v:t_number ? condition.Counted(it.words, 'word') : it->get('words', '')
    const peers = it->get('peers', [])->join(', ')
    const title = it.title .. repeat(' ', min([width, 60]) - strdisplaywidth(it.title))
    return $'{unread} {title}  {Day(it->get("modified", ""))}  {words}  {peers}'->trim(' ', 2)
  })
enddef

# A time of the service, seconds or an ISO date, as day and minute.
export def Day(time: any): string
  return type(time) == v:t_string ? time->strpart(0, 16)->tr('T', ' ')
    : strftime('%Y-%m-%d %H:%M', float2nr(time > 100000000000 ? time / 1000 : time * 1.0))
enddef

def PeerLines(result: dict<any>): list<string>
  const own = result->get('self', {})
  var lines = [$'you  {own->get("name", "")}  {own->get("fingerprint", "")}', '']
  for peer in result->get('peers', [])
    const notes = peer->get('notes', [])->mapnew((_, it) => it->get('title', it.id))->join(', ')
    lines->add($'{peer.name}  {peer.state}  {peer->get("via", "")}  {notes}'->trim(' ', 2))
  endfor
  return len(lines) > 2 ? lines : lines + [':NotesShare makes a ticket to send; no one is nearby']
enddef

def Number(name: string): number
  for info in getbufinfo()
    if fnamemodify(info.name, ':t') ==# name && getbufvar(info.bufnr, '&buftype') ==# 'nofile'
      return info.bufnr
    endif
  endfor
  return -1
enddef

# Shows lines in the scratch buffer of that name, in its window or a new one.
export def Show(name: string, lines: list<string>)
  const from = b:->get('notes_lsp_from', win_getid())
  const existing = Number(name)
  if existing > 0 && bufwinid(existing) > 0
    win_gotoid(bufwinid(existing))
  elseif existing > 0
    execute $'botright sbuffer {existing}'
  else
    botright new
    setlocal buftype=nofile bufhidden=hide noswapfile nobuflisted nomodifiable nowrap cursorline
    execute $'silent file {fnameescape(name)}'
  endif
  b:notes_lsp_from = from
  nnoremap <buffer> <silent> q <ScriptCmd>Close()<CR>
  SetLines(bufnr(), lines)
enddef

# Closes a list and goes back to the window that the user came from, whichever Vim would choose.
def Close()
  const from = b:->get('notes_lsp_from', 0)
  close
  win_gotoid(from)
enddef

# Adds lines at the end of a scratch buffer that Show has made, if it is still there.
export def Append(name: string, lines: list<string>)
  const bufnr = Number(name)
  if bufnr > 0
    SetLines(bufnr, getbufline(bufnr, 1, '$') + lines)
  endif
enddef

def SetLines(bufnr: number, lines: list<string>)
  if getbufline(bufnr, 1, '$') ==# lines
    return
  endif
  setbufvar(bufnr, '&modifiable', true)
  setbufline(bufnr, 1, lines)
  if getbufinfo(bufnr)[0].linecount > len(lines)
    silent deletebufline(bufnr, len(lines) + 1, '$')
  endif
  setbufvar(bufnr, '&modifiable', false)
enddef
