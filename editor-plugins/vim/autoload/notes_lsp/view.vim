vim9script
# Live lists that the service lays out: of notes, people, agenda items, states. The answer to a
# view's request has `lines` and, for each, a `row` with what its keys act on. Requests are made only when something happens.

import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'

# Several events at once cause one request.
const newsPause = 100

# How many lines to request first; the rest is requested when it comes into view.
const firstPage = 200

# By buffer number: {method, params, keys, lines, rows, token, needed, isAsking, isStale, Shown}. `token` names what is shown, so
# that only what has changed is sent again.
var views: dict<dict<any>> = {}
var newsTimer = 0

# Shows the answer to a request in the buffer of that name. `Shown` is called with the answer when it is on the screen for the
# first time. Call `Map` for the keys.
export def Show(name: string, method: string, params: dict<any>, Shown: func = null_function)
  list.Show(name, getbufline(list.Number(name), 1, '$'))
  final view = {method: method, params: params, keys: [], lines: [], rows: [], token: 0, isAsking: false, isStale: false, Shown: Shown}
  const isSame = views->has_key(bufnr()) && views[bufnr()].method ==# method && views[bufnr()].params == params
  if isSame
    [view.lines, view.rows, view.token] = [views[bufnr()].lines, views[bufnr()].rows, views[bufnr()].token]
  endif
  views[bufnr()] = view
  nnoremap <buffer> <silent> <nowait> ? <ScriptCmd>Help()<CR>
  nnoremap <buffer> <silent> <nowait> g? <ScriptCmd>Help()<CR>
  nnoremap <buffer> <silent> <nowait> <C-l> <ScriptCmd>Ask(bufnr())<CR><C-l>
  Ask(bufnr(), true)
enddef

# A key of the current view: what it does in words, the member of a row that it needs or '', and what it calls with the row.
export def Map(key: string, words: string, needed: string, Do: func)
  final keys: list<any> = views[bufnr()].keys
  execute $'nnoremap <buffer> <silent> <nowait> {key} <ScriptCmd>Press({len(keys)})<CR>'
  keys->add([key, words, needed, Do])
enddef

# Something has happened: soon requests again what is on the screen.
export def Refresh()
  if newsTimer == 0 && !empty(Visible())
    newsTimer = timer_start(newsPause, (_) => {
      newsTimer = 0
      for bufnr in Visible()
        Ask(bufnr)
      endfor
    })
  endif
enddef

def Visible(): list<number>
  return views->keys()->mapnew((_, it) => str2nr(it))->filter((_, it) => bufwinid(it) > 0)
enddef

# `opens`: the user opens the list, so its earlier news is no longer new.
def Ask(bufnr: number, opens = false)
  final view = views[bufnr]
  if view.isAsking
    view.isStale = true
    return
  endif
  view.isAsking = true
  view.isStale = false
  const width = bufwinid(bufnr) > 0 ? winwidth(bufwinid(bufnr)) : &columns
  final params = view.params->copy()->extend({width: width, opens: opens})
  params->extend(view.token > 0 ? {since: view.token} : {atMost: firstPage})
  service.Request(view.method, params, (answer) => {
    view.isAsking = false
    gate.WhenSafe(() => {
      if answer->has_key('error')
        # There is nothing to list.
        if empty(view.rows) && bufnr == bufnr()
          list.Close()
        endif
        status.Warn(answer.error.message)
      elseif bufexists(bufnr) && views->get(bufnr, {}) is view
        Fill(bufnr, view, answer.result)
      endif
      if answer->get('result', {})->get('more', false)
        Ask(bufnr)
      elseif view.isStale
        Refresh()
      endif
    })
  })
enddef

def Fill(bufnr: number, view: dict<any>, result: dict<any>)
  const windows = win_findbuf(bufnr)
  const places = windows->mapnew((_, window) => Key(view.rows->get(line('.', window) - 1, {})))
  const isFirst = view.rows->indexof((_, it) => !empty(it)) < 0
  view.rows = Spliced(view.rows, result, 'rows')
  view.lines = Spliced(view.lines, result, 'lines')
  view.token = result->get('token', 0)
  const lines = view.lines
  list.SetLines(bufnr, empty(lines) ? [''] : lines)
  Highlight(bufnr, view.rows, lines)
  for [index, window] in windows->items()
    const wanted = isFirst ? view.rows->indexof((_, it) => !empty(it))
      : places[index] == '' ? -1 : view.rows->indexof((_, it) => Key(it) ==# places[index])
    if wanted >= 0 && line('.', window) != wanted + 1
      win_execute(window, $'noautocmd call cursor({wanted + 1}, 1)')
    endif
  endfor
  if isFirst && view.Shown != null
    view.Shown(result)
  endif
enddef

# The shown lines, updated by an answer that has all of them, or replacements for some.
def Spliced(shown: list<any>, result: dict<any>, part: string): list<any>
  if !result->has_key('first')
    return result->get(part, [])
  endif
  return shown->slice(0, result.first) + result[part] + shown->slice(result.first + result.removed)
enddef

# Identifies a row when it moves to another line.
def Key(row: dict<any>): string
  return empty(row) ? '' : [row->get('id', ''), row->get('item', ''), row->get('peer', ''), row->get('heads', [])]->string()
enddef

# Lines without a row are headings.
def Highlight(bufnr: number, rows: list<any>, lines: list<string>)
  if empty(prop_type_get('NotesHeading'))
    highlight default link NotesHeading Title
    prop_type_add('NotesHeading', {highlight: 'NotesHeading'})
  endif
  prop_remove({type: 'NotesHeading', bufnr: bufnr, all: true}, 1, max([1, len(lines)]))
  for [index, row] in rows->items()
    if empty(row) && lines[index] =~ '\S'
      prop_add(index + 1, 1, {bufnr: bufnr, type: 'NotesHeading', length: len(lines[index])})
    endif
  endfor
enddef

# Whether the text of the buffer changes as things happen.
export def IsLive(bufnr: number): bool
  return views->has_key(bufnr)
enddef

# The row under the cursor; {} on a heading.
export def Row(): dict<any>
  return views->has_key(bufnr()) ? views[bufnr()].rows->get(line('.') - 1, {}) : {}
enddef

# What the view in the current buffer is about; {} if it is none.
export def Target(): dict<any>
  return views->has_key(bufnr()) ? views[bufnr()].params : {}
enddef

# The note that the view in the current buffer, or the row under the cursor, is about; '' if there is none.
export def NoteId(): string
  return Target()->get('id', Row()->get('id', ''))
enddef

# A key of a view was pressed.
def Press(index: number)
  const [_, _, needed, Do] = views[bufnr()].keys[index]
  const row = Row()
  status.OnActivity()
  if needed != '' && !row->has_key(needed)
    status.Warn('Move to a line with an entry first')
  else
    Do(row)
  endif
enddef

# Any key closes the list of keys.
def Help()
  const lines = views[bufnr()].keys->copy()->filter((_, it) => it[1] != '')
    ->mapnew((_, it) => printf('%-6s %s', it[0], it[1])) + [printf('%-6s %s', 'q', 'close this list')]
  popup_create(lines, {title: ' Keys ', border: [], padding: [0, 1, 0, 1], zindex: 210, mapping: false, filter: (id, _) => {
    popup_close(id)
    return true
  }})
enddef

# Lines are laid out for the width of the window.
augroup notes_lsp_view
  autocmd!
  autocmd VimResized,BufWinEnter * Refresh()
augroup END
