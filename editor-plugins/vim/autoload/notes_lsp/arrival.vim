vim9script
# Notes from other people that arrive after a while: opened if the user has done nothing but wait, else announced. So no
# window changes its buffer while the user types.

import autoload 'notes_lsp/files.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/textchoice.vim'
import autoload 'notes_lsp/view.vim'

const reminderDelay = 3000

# The requests that are waiting, oldest first: {number, reminder}.
var waiting: list<dict<any>> = []
var lastNumber = 0
# Answers that were announced, oldest first: functions.
var arrived: list<func> = []

# Requests a note that may arrive late. Shows `line` meanwhile, and after a while `still`.
# `Other` gets a result that is no note.
export def Await(method: string, params: dict<any>, line: string, still: string, Other: func)
  const mark = Mark()
  lastNumber += 1
  final question = {number: lastNumber, reminder: 0}
  waiting->add(question)
  status.Say(line)
  if still != ''
    question.reminder = timer_start(reminderDelay, (_) => status.Say(still))
  endif
  service.Request(method, params, (answer) => {
    if Forget(question)
      const Choose = (path: string) => Await(method, params->extendnew({text: path}), line, still, Other)
      gate.WhenSafe(() => Take(answer, mark, Other, Choose))
    endif
  })
enddef

# The user's place and the text around it; equal afterwards if the user has done nothing. A list changes by itself, and with it the
# cursor's place.
def Mark(): list<any>
  return [win_getid(), bufnr()] + (view.IsLive(bufnr()) ? [] : [getbufvar(bufnr(), 'changedtick'), getcurpos()])
enddef

# Returns whether it was waited for.
def Forget(question: dict<any>): bool
  timer_stop(question.reminder)
  const index = waiting->indexof((_, it) => it.number == question.number)
  if index < 0
    return false
  endif
  waiting->remove(index)
  return true
enddef

# Calls `Do`, which opens something, if the user has done nothing since `mark`; else announces it.
def ShowOrAnnounce(mark: list<any>, announcement: string, Do: func)
  if mode(1) ==# 'n' && mark == Mark()
    Do()
  else
    arrived->add(Do)
    status.Warn($'{announcement}: :NotesShow')
  endif
enddef

# What opens the answer to a request that is made now, by default a note.
export def Opener(Do: func = files.Open, name = ''): func(dict<any>)
  const mark = Mark()
  return (result) => {
    const title = name ?? $'"{fnamemodify(result->get("path", result->get("folder", "")), ":t:r")}"'
    ShowOrAnnounce(mark, $'{title} is ready', () => Do(result))
  }
enddef

def Take(answer: dict<any>, mark: list<any>, Other: func, Choose: func(string))
  if textchoice.IsAsked(answer)
    ShowOrAnnounce(mark, 'It has several texts to choose from', () => textchoice.Show(answer, Choose))
    return
  endif
  if answer->has_key('error')
    status.Warn(answer.error.message)
    return
  endif
  const result = type(answer->get('result')) == v:t_dict ? answer.result : {}
  if !result->has_key('path')
    Other(result)
  else
    const title = $'"{fnamemodify(result.path, ":t:r")}"'
    ShowOrAnnounce(mark, $'{title} is ready', () => {
      files.Open(result)
      view.Refresh()
      if empty(result->get('items', []))
        status.Say($'Opened {title}')
      else
        status.Say($'The first item of "{fnamemodify(result.folder, ":t")}". :NotesAgenda shows all')
      endif
    })
  endif
enddef

# Shows what was announced last.
export def Show()
  if empty(arrived)
    status.Say('Nothing is waiting to be shown')
  else
    const Do = arrived->remove(-1)
    Do()
  endif
enddef

# Cancels the latest request.
export def GiveUp()
  if empty(waiting)
    status.Say('Not waiting for a note')
  else
    timer_stop(waiting->remove(-1).reminder)
    status.Say('Gave up waiting; :Notes lists it if it arrives')
  endif
enddef

# Whether any request is waiting.
export def IsWaiting(): bool
  return !empty(waiting)
enddef
