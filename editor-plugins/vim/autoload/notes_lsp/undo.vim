vim9script
# Undo in notes. Vim's own would undo what others typed, so its keys and commands ask the service.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/condition.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

const keys = {u: 'undo', U: 'undo', '<Undo>': 'undo', 'g-': 'undo', '<C-r>': 'redo', 'g+': 'redo'}
# More steps than any history has.
const all = 1000000
const secondsIn = {s: 1, m: 60, h: 3600, d: 86400}
# How long an undo may block Vim, in milliseconds. A service that needs longer brings the text later.
const patience = 1000
# An Ex command by itself: a count, its name, a bang, its argument.
const commandLine = '^[: \t]*\(sil\%[ent]!\=\s\+\)\=\(\d*\)'
  .. '\(u\%[ndo]\|red\%[o]\|ea\%[rlier]\|lat\%[er]\|undol\%[ist]\)\(!\=\)\s*\(\d*[smhdf]\=\)\s*$'

export def Map(bufnr: number)
  if !IsWanted() || bufnr != bufnr()
    return
  endif
  for [key, verb] in keys->items()
    execute $'nnoremap <buffer> <silent> {key} <Cmd>call <SID>Press("{key->substitute("^<", "<lt>", "")}", "{verb}")<CR>'
  endfor
enddef

export def Unmap(bufnr: number)
  if bufnr != bufnr()
    return
  endif
  for key in keys->keys()
    if maparg(key, 'n', false, true)->get('buffer', 0) == 1
      execute $'nunmap <buffer> {key}'
    endif
  endfor
enddef

# A buffer's maps can be removed only while it is the current one. If it was detached elsewhere, the first use of a
# key removes them, and then does what the key does in any file.
def Press(key: string, verb: string)
  const count = v:count1
  status.OnActivity()
  if empty(buffer.Of(bufnr()))
    Unmap(bufnr())
    feedkeys(count .. (key[0] ==# '<' ? eval($'"\{key}"') : key), 'n')
  else
    Ask(verb, {count: count})
  endif
enddef

def IsWanted(): bool
  return g:->get('notes_lsp_map_undo', true)
enddef

# A command line is about to be executed: in a note, an undo command becomes a call of Run.
export def OnCommandLine()
  if !IsWanted() || v:event->get('abort', false) || empty(buffer.Of(bufnr()))
    return
  endif
  const parts = getcmdline()->matchlist(commandLine)
  if !empty(parts)
    const argument = parts[5] !=# '' ? parts[5] : parts[2]
    setcmdline($"call notes_lsp#undo#Run('{parts[3]}', '{argument}')")
  endif
enddef

# Does what :undo, :redo, :earlier or :later asks for.
export def Run(command: string, argument: string)
  const count = argument ==# '' ? 1 : str2nr(argument)
  const unit = argument->matchstr('\a$')
  if command =~# '^undol'
    status.Say('No undo list here; see :NotesHistory')
  elseif command =~# '^u' && argument ==# '0'
    Ask('undo', {count: all})
  elseif command =~# '^u' && argument !=# ''
    status.Say('Changes have no numbers here; try :earlier N')
  elseif unit ==# 'f'
    status.Say('Written states: see :NotesHistory')
  else
    const verb = command =~# '^\(u\|ea\)' ? 'undo' : 'redo'
    Ask(verb, unit ==# '' ? {count: count} : {seconds: count * secondsIn[unit]})
  endif
enddef

def Ask(verb: string, extent: dict<number>)
  final note = buffer.Of(bufnr())
  if empty(note)
    return
  endif
  if condition.IsReadOnly(note) || !&modifiable
    status.Warn(condition.IsReadOnly(note) ? condition.readOnlyLine : "E21: Cannot make changes, 'modifiable' is off")
    return
  elseif !service.IsReady() || !service.HasUndo()
    status.Warn('Offline: no undo until the service is back')
    return
  endif
  sync.Flush(note, false)
  final params = {uri: note.uri, version: note.version, rev: note.rev}
  note.awaitsUndo = true
  service.Request($'notes/{verb}', params->extend(extent), (answer) => {
    const text = answer->get('error', answer->get('result', {}))->get('message', '')
    if text !=# ''
      note.awaitsUndo = false
      status.Say(text)
    endif
  })
  # What comes next in a macro, or was typed ahead, is meant for the text after it.
  const start = reltime()
  while note.awaitsUndo && reltimefloat(reltime(start)) * 1000 < patience
    sleep 2m
    sync.Drain(note, true)
  endwhile
enddef
