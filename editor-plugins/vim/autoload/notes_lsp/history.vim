vim9script
# A note's past: earlier texts, their authors, what is new, and restoring one.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

const historyName = '[Notes history]'
const pastName = '[Note as it was]'
const diffName = '[Notes diff]'
const blameName = '[Notes blame]'

# What the history on the screen is of, and its rows.
var shown = {uri: '', title: '', rows: []}

def Ask(method: string, params: dict<any>, Do: func)
  final note = buffer.Of(bufnr())
  if empty(note)
    status.Warn('Not a note. :NotesAdopt makes it one')
    return
  endif
  sync.Flush(note, false)
  service.Request(method, params->extend({uri: note.uri}), commands.Then((result) => Do(note, result)))
enddef

export def History()
  Ask('notes/history', {}, (note, result) => {
    shown = {uri: note.uri, title: fnamemodify(note.path, ':t:r'), rows: result->get('changes', [])}
    if empty(shown.rows)
      status.Say('No history yet')
      return
    endif
    const width = shown.rows->mapnew((_, it) => strdisplaywidth(it.author))->max()
    list.Show(historyName, shown.rows->mapnew((_, it) => {
      const author = it.author .. repeat(' ', width - strdisplaywidth(it.author))
      return $'{list.Day(it.time)}  {author}  {printf("+%-5d -%-5d", it.inserted, it.deleted)}  {it.summary}'
    }))
    nnoremap <buffer> <silent> <CR> <ScriptCmd>Look()<CR>
    nnoremap <buffer> <silent> d <ScriptCmd>DiffUnderCursor()<CR>
    nnoremap <buffer> <silent> R <ScriptCmd>Restore()<CR>
    status.Say('<CR> shows that state, d what changed since, R restores it')
  })
enddef

def Row(): dict<any>
  return bufname() ==# historyName ? shown.rows->get(line('.') - 1, {}) : {}
enddef

def Look()
  const row = Row()
  if empty(row)
    return
  endif
  service.Request('notes/textAt', {uri: shown.uri, heads: row.heads}, commands.Then((result) => {
    list.Show(pastName, result.text->split("\n", true))
    setlocal wrap
    status.Say($'{shown.title}, {list.Day(row.time)}, after {row.author}')
  }))
enddef

def DiffUnderCursor()
  const row = Row()
  if !empty(row)
    service.Request('notes/diff', {uri: shown.uri, from: row.heads}, commands.Then(ShowDiff))
  endif
enddef

# Brings back the state under the cursor of the history, or shows the history to choose one.
export def Restore()
  const row = Row()
  if empty(row)
    History()
    return
  endif
  service.Request('notes/restore', {uri: shown.uri, heads: row.heads}, commands.Then((_) =>
    status.Say($'Restored {shown.title} to {list.Day(row.time)} (u undoes)')))
enddef

# What is new since the note was last closed here.
export def Diff()
  Ask('notes/diff', {}, (_, result) => ShowDiff(result))
enddef

def ShowDiff(result: dict<any>)
  var lines: list<string> = []
  for hunk in result->get('hunks', [])
    const author = hunk->has_key('author') ? $' {hunk.author}' : ''
    lines->add($'@@ line {hunk.range.start.line + 1} @@{author}')
    lines->extend(Marked('-', hunk.oldText))
    lines->extend(Marked('+', hunk.newText))
  endfor
  if empty(lines)
    status.Say('Nothing has changed')
    return
  endif
  list.Show(diffName, lines)
  setlocal syntax=diff
enddef

def Marked(mark: string, text: string): list<string>
  return text == '' ? [] : text->substitute('\n$', '', '')->split("\n", true)->map((_, it) => mark .. it)
enddef

# Who wrote these lines, and when.
export def Blame(first: number, last: number)
  const range = {start: {line: first - 1, character: 0}, end: {line: last, character: 0}}
  Ask('notes/blame', {range: range}, (_, result) => {
    var lines: list<string> = []
    for span in result->get('spans', [])
      const [start, end] = [span.range.start, span.range.end]
      const until = end.character == 0 && end.line > start.line ? end.line : end.line + 1
      const place = until > start.line + 1 ? $'{start.line + 1}-{until}' : $'{start.line + 1}'
      lines->add($'{place}: {span.author}, {list.Day(span.time)}')
    endfor
    uniq(lines)
    if len(lines) > 1
      list.Show(blameName, lines)
    else
      status.Say(lines->get(0, 'No text here'))
    endif
  })
enddef
