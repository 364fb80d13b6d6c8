vim9script
# What the service says goes to those who handle it.

import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/pending.vim'
import autoload 'notes_lsp/safe.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/workingfile.vim'

const maximumLogLines = 200
var logLines: list<string> = []

# What the service said last, for :NotesDoctor.
export def Log(): list<string>
  return logLines
enddef

export def Remember(line: string)
  logLines->add(line)
  if len(logLines) > maximumLogLines
    logLines->remove(0)
  endif
enddef

# Handles a message from the service.
export def Take(body: string)
  OnMessage(safe.Clean(json_decode(body), body))
enddef

def OnMessage(message: any)
  if type(message) != v:t_dict
    return
  elseif !message->has_key('method')
    if type(message->get('id')) == v:t_number
      pending.Answer(message.id, message)
    endif
    return
  endif
  const params = message->get('params', {})
  if message->has_key('id')
    # The service makes no request that this client could answer.
    service.Write({id: message.id, error: {code: -32601, message: $'{message.method} is not supported'}})
  elseif message.method ==# 'notes/edit'
    sync.OnEdit(params)
  elseif message.method ==# 'notes/cursors'
    sync.OnCursors(params)
  elseif message.method ==# 'notes/check'
    sync.OnCheck(params)
  elseif message.method ==# 'notes/file'
    workingfile.OnFile(params)
  elseif message.method ==# 'notes/resync'
    sync.OnResync(params)
  elseif message.method ==# 'notes/event'
    commands.OnEvent(params)
  elseif message.method ==# 'notes/statusChanged'
    commands.OnStatusChanged(params)
  elseif message.method ==# 'window/showMessage'
    status.Say(params.message->substitute('^notes-lsp: ', '', ''))
  elseif message.method ==# 'window/logMessage'
    Remember(params.message)
  endif
enddef
