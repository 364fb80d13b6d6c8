vim9script
# Requests that have no answer yet. Each is answered always and once: with an error if the service dies.

import autoload 'notes_lsp/service.vim'

# How long completion may block Vim, in milliseconds.
const completionPatience = 80

# Requests made before the service is ready: [method, params, Done].
var held: list<list<any>> = []
# Callbacks of open requests, by id.
var asked: dict<func(dict<any>)> = {}
var lastAsked = 0
# The last answer to `Ask`, by method.
var lastResults: dict<dict<any>> = {}

export def Hold(method: string, params: dict<any>, Done: func(dict<any>))
  held->add([method, params, Done])
enddef

# What waits for the service; from now on nothing does.
export def TakeHeld(): list<list<any>>
  const requests = held
  held = []
  return requests
enddef

export def FailHeld(why: string)
  for [_, _, Done] in TakeHeld()
    Done(Problem(why))
  endfor
enddef

# The id of a request whose answer no one waits for.
export def NextId(): number
  lastAsked += 1
  return lastAsked
enddef

# The id of a request whose answer `Done` gets.
export def Expect(Done: func(dict<any>)): number
  asked[NextId()] = Done
  return lastAsked
enddef

export def Answer(id: number, answer: dict<any>)
  if asked->has_key(id)
    const Done = asked->remove(id)
    Done(answer)
  endif
enddef

# The last request could not be written.
export def FailLast(why: string)
  Answer(lastAsked, Problem(why))
enddef

export def FailAsked(why: string)
  const left = asked->values()
  asked = {}
  for Done in left
    Done(Problem(why))
  endfor
enddef

export def Problem(why: string): dict<any>
  return {error: {code: -32603, message: why}}
enddef

# Asks and waits briefly, for completion only; returns the previous answer, or {}, if this one takes longer.
export def Ask(method: string, params: dict<any>): dict<any>
  final box = {isNew: false}
  service.Request(method, params, (answer) => {
    box.isNew = true
    const result = answer->get('result')
    if type(result) == v:t_dict
      lastResults[method] = result
    endif
  })
  const start = reltime()
  while !box.isNew && reltimefloat(reltime(start)) * 1000 < completionPatience
    sleep 2m
  endwhile
  return lastResults->get(method, {})
enddef
