vim9script
# A service that a test commands, for the tests of the plugin that need one; and a note in it.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/service.vim'

export const directory = tempname()
mkdir(directory)
export const log = directory .. '/log'
const fake = expand('<sfile>:p:h') .. '/fake_service.py'
$NOTES_TEST_DIR = directory
g:notes_lsp_command = ['python3', fake, log]
g:notes_lsp_name = 'Ana'
set hidden
runtime plugin/notes_lsp.vim

# Waits until something holds; callbacks and timers run meanwhile. Two minutes end a hang; a busy machine proves nothing.
export def Wait(what: string, Holds: func)
  const start = reltime()
  while !Holds()
    if reltimefloat(reltime(start)) > 120
      throw $'waited in vain for: {what}'
    endif
    sleep 5m
    # Within a script Vim never says itself that nothing is pending.
    doautocmd <nomodeline> SafeState
  endwhile
enddef

# What the service has been told with a method.
export def Told(method: string): list<dict<any>>
  # After the last line break there may be half a line.
  return (filereadable(log) ? readfile(log, 'b')->slice(0, -1) : [])->mapnew((_, it) => json_decode(it))
    ->filter((_, it) => it->get('method', '') ==# method)->mapnew((_, it) => it->get('params', {}))
enddef

export def WaitTold(method: string, count: number): dict<any>
  Wait($'{method} for the {count}. time', () => len(Told(method)) >= count)
  return Told(method)[-1]
enddef

export def Say(method: string, params: dict<any>)
  service.Notify('test/say', {method: method, params: params})
enddef

# A fresh note with that text, open in the current window.
export def Note(title: string, lines: list<string>): dict<any>
  execute 'NotesNew' title
  Wait('the note is open', () => bufname() =~ title .. '\.md$' && !empty(buffer.Of(bufnr())))
  final note = buffer.Of(bufnr())
  if !empty(lines)
    setline(1, lines)
    const count = len(Told('textDocument/didChange'))
    sync.Flush(note, false)
    WaitTold('textDocument/didChange', count + 1)
  endif
  return note
enddef
