vim9script
# The history of a note: earlier texts, their authors, what is new, and restoring one. The windows and the cursor of the note
# stay where they are.

import autoload 'notes_lsp/arrival.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/view.vim'

const blameWidth = 22

# The lines to restore: {target, note, range}; {} for the whole note.
var part: dict<any> = {}

# The history of the current note, or of the one that a list is about.
export def History()
  if view.NoteId() != ''
    Of({id: view.NoteId()}, 'the note')
    return
  endif
  const note = commands.Current()
  if !empty(note)
    Of({uri: note.uri}, fnamemodify(note.path, ':t:r'))
  endif
enddef

export def Of(target: dict<any>, title: string)
  part = {}
  view.Show('[Notes history]', 'notes/history', target, (_) => status.Say('<CR> shows it, d its changes, D since then, R restores'))
  view.Map('<CR>', 'show the note as it was then', 'heads', (row) => Look(target, title, row))
  view.Map('d', 'what this row changed', 'heads', (row) => DiffOf(target->copy()->extend({from: row.before, to: row.heads}), row.author))
  view.Map('D', 'what has changed since then', 'heads', (row) => DiffOf(target->copy()->extend({from: row.heads})))
  view.Map('R', 'restore the note to then', 'heads', (row) => GoBack(target, title, row))
enddef

def Look(target: dict<any>, title: string, row: dict<any>)
  service.Request('notes/textAt', target->copy()->extend({heads: row.heads}), commands.Then(arrival.Opener((result) => {
    list.Show('[Note as it was]', text.Lines(result.text))
    setlocal wrap
    status.Say($'{title}, {row.when}, after {row.author}')
  }, 'The text')))
enddef

def GoBack(target: dict<any>, title: string, row: dict<any>)
  final params = target->copy()->extend({heads: row.heads})
  const isPart = !empty(part) && part.target == target
  if isPart
    sync.Flush(part.note, false)
    params.range = part.range
  endif
  part = {}
  service.Request('notes/restore', params, commands.Then((_) => {
    view.Refresh()
    status.Say($'Restored {isPart ? "those lines" : title} to {row.when} (u undoes)')
  }))
enddef

# Shows the history, to choose a state to bring back; with a range, only for these lines.
export def Restore(count: number, first: number, last: number)
  if view.Row()->has_key('heads')
    execute "normal R"
    return
  endif
  final note = commands.Current()
  if empty(note)
    return
  endif
  const target = {uri: note.uri}
  History()
  if count > 0
    # Edits carry it.
    note.part = {start: {line: first - 1, character: 0}, end: {line: last, character: 0}}
    part = {target: target, note: note, range: note.part}
  endif
enddef

# What is new since the note was last closed here.
export def Diff()
  const note = commands.Current()
  if !empty(note)
    DiffOf({uri: note.uri})
  endif
enddef

# `author`: of what has none, as parts of an earlier state.
export def DiffOf(params: dict<any>, author = '')
  const asked = params->copy()->extend({lines: true, author: author})
  service.Request('notes/diff', asked, commands.Then(arrival.Opener((result) => {
    if empty(result.lines)
      status.Say('Nothing has changed')
      return
    endif
    list.Show('[Notes diff]', result.lines)
    setlocal syntax=diff
  }, 'The comparison')))
enddef

# Shows beside each line its last author and the time, until it is called again.
export def Blame()
  if EndBlame(bufnr())
    return
  endif
  const note = commands.Current()
  if empty(note)
    return
  endif
  const range = {start: {line: 0, character: 0}, end: {line: line('$'), character: 0}}
  const window = win_getid()
  service.Request('notes/blame', {uri: note.uri, range: range, width: blameWidth}, commands.Then((result) => {
    if winbufnr(window) == note.bufnr
      ShowBlame(note.bufnr, window, result)
    endif
  }))
enddef

# A narrow window at the left, which scrolls with the note.
def ShowBlame(bufnr: number, window: number, result: dict<any>)
  win_gotoid(window)
  const top = line('w0')
  const caret = getcurpos()
  execute $'leftabove vertical :{blameWidth} new'
  setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted nowrap winfixwidth nonumber norelativenumber
  setlocal signcolumn=no foldcolumn=0 nolist nospell nocursorline statusline=Blame
  b:notes_lsp_blame = bufnr
  const lines = result->get('labels', [])
  setline(1, lines)
  for [index, color] in result->get('colors', [])->items()
    if color >= 0 && !empty(prop_type_get($'NotesName{color % 12}'))
      prop_add(index + 1, 1, {type: $'NotesName{color % 12}', length: len(lines[index])})
    endif
  endfor
  setlocal nomodifiable
  nnoremap <buffer> <silent> <nowait> q <ScriptCmd>EndBlame(b:notes_lsp_blame)<CR>
  execute $'normal! {top}zt'
  setlocal scrollbind
  win_gotoid(window)
  setlocal scrollbind
  setpos('.', caret)
  syncbind
  status.Say(':NotesBlame again hides the names')
  # Typing moves the lines away from their labels.
  execute $'autocmd notes_lsp_blame TextChanged,TextChangedI <buffer={bufnr}> ++once EndBlame({bufnr})'
enddef

augroup notes_lsp_blame
  autocmd!
augroup END

# Removes the labels. Returns whether there were any.
def EndBlame(bufnr: number): bool
  var found = false
  for info in getwininfo()
    if getbufvar(info.bufnr, 'notes_lsp_blame', 0) == bufnr
      win_execute(info.winid, 'close')
      found = true
    endif
  endfor
  if found
    for window in win_findbuf(bufnr)
      setwinvar(window, '&scrollbind', false)
    endfor
    execute $'autocmd! notes_lsp_blame * <buffer={bufnr}>'
  endif
  return found
enddef
