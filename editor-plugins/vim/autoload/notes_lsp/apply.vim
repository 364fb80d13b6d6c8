vim9script
# Applies the edits of other people to a buffer: changes only the lines that differ, and keeps view and selection.

import autoload 'notes_lsp/text.vim'

# Applies `edits` (clamped, ascending, in the coordinates of `shadow`) to the buffer and to `shadow`, its text.
# Returns the growth in bytes; first calls `Commit` with it, as soon as the buffer has the new text. CTRL-C stops neither: what
# is applied by half would count as the user's.
export def Edits(bufnr: number, shadow: list<string>, edits: list<dict<any>>, Commit: func = (_) => 0): number
  const views = Views(bufnr)
  const anchor = Anchor(bufnr)
  const modifiable = getbufvar(bufnr, '&modifiable')
  const readonly = getbufvar(bufnr, '&readonly')
  # A read-only buffer has no unsaved edits of the user.
  const isClean = readonly && !modifiable && !getbufvar(bufnr, '&modified')
  const wanted = Region(shadow, edits)
  var [isBroken, isDone] = [false, false]
  while !isDone
    try
      setbufvar(bufnr, '&modifiable', true)
      setbufvar(bufnr, '&readonly', false)
      if isBroken
        Complete(bufnr, shadow, wanted)
      else
        # From the bottom up, so that positions above stay valid.
        for edit in edits->copy()->reverse()
          One(bufnr, shadow, edit)
        endfor
      endif
      RestoreFinalNewline(bufnr, shadow, edits, views)
      Commit(wanted.grown)
      isDone = true
    catch /^Vim:Interrupt$/
      isBroken = true
    finally
      setbufvar(bufnr, '&modifiable', modifiable)
      setbufvar(bufnr, '&readonly', readonly)
      if isClean
        setbufvar(bufnr, '&modified', false)
      endif
    endtry
  endwhile
  for view in views
    Restore(view, shadow, edits)
  endfor
  RestoreAnchor(bufnr, anchor, edits)
  return wanted.grown
enddef

# What the edits make of the lines from the first to the last that they touch: {above, lines, below, grown}.
def Region(shadow: list<string>, edits: list<dict<any>>): dict<any>
  const above = empty(edits) ? 0 : edits[0].range.start.line
  const until = empty(edits) ? 0 : edits[-1].range.end.line + 1
  final lines = shadow->slice(above, until)
  var grown = 0
  for edit in edits->deepcopy()->reverse()
    edit.range.start.line -= above
    edit.range.end.line -= above
    grown += text.Splice(lines, edit).bytes
  endfor
  return {above: above, lines: lines, below: len(shadow) - until, grown: grown}
enddef

# Gives the buffer the wanted text from whatever state between; the lines above and below are untouched.
def Complete(bufnr: number, shadow: list<string>, wanted: dict<any>)
  final now = text.OfBuffer(bufnr, wanted.lines == [''])
  const lines = now->slice(0, wanted.above) + wanted.lines + now->slice(len(now) - wanted.below)
  const difference = text.Difference(now, lines, {})
  if !empty(difference)
    One(bufnr, now, difference.edit)
  endif
  text.Patch(shadow, 0, len(shadow), lines)
enddef

def One(bufnr: number, shadow: list<string>, edit: dict<any>)
  const hidden = text.HasFinalNewline(bufnr) ? 1 : 0
  const countBefore = len(shadow)
  const step = text.Splice(shadow, edit)
  const total = countBefore - hidden
  if hidden == 0 || step.at + step.count < countBefore
    keepjumps ReplaceLines(bufnr, total, step.at, step.count, step.lines)
    return
  endif
  # The end of the text changed: Vim does not show a last empty line.
  if shadow[-1] != ''
    setbufvar(bufnr, '&fixendofline', false)
    setbufvar(bufnr, '&endofline', false)
  endif
  const newTotal = len(shadow) - (shadow[-1] == '' ? 1 : 0)
  const from = min([step.at, total, newTotal])
  keepjumps ReplaceLines(bufnr, total, from, total - from, shadow->slice(from, newTotal))
enddef

# Replaces `count` of the `total` lines of a buffer at index `at`.
def ReplaceLines(bufnr: number, total: number, at: number, count: number, lines: list<string>)
  if total == 0
    # Vim shows one line where there is none.
    if !empty(lines)
      setbufline(bufnr, 1, lines)
    endif
    return
  endif
  const shared = min([count, len(lines)])
  if shared > 0
    setbufline(bufnr, at + 1, lines->slice(0, shared))
  endif
  if len(lines) > shared
    appendbufline(bufnr, at + shared, lines->slice(shared))
  elseif count > shared
    silent deletebufline(bufnr, at + shared + 1, at + count)
  endif
enddef

# When a text gets its final newline back, hides the empty last line again, unless a caret is in it.
def RestoreFinalNewline(bufnr: number, shadow: list<string>, edits: list<dict<any>>, views: list<dict<any>>)
  const count = len(shadow)
  if text.HasFinalNewline(bufnr) || shadow[-1] != '' || count == 1
    return
  endif
  for view in views
    if CarriedCaret(view.caret, edits, view.isInsert).line >= count - 1
      return
    endif
  endfor
  setbufvar(bufnr, '&endofline', true)
  keepjumps silent deletebufline(bufnr, count)
enddef

# What must not move in each window that shows the buffer.
def Views(bufnr: number): list<dict<any>>
  const isInsert = mode() =~ '^[iR]'
  var views: list<dict<any>> = []
  for window in win_findbuf(bufnr)
    const [_, lnum, column, coladd, curswant] = getcurpos(window)
    views->add({
      window: window,
      isInsert: isInsert && window == win_getid(),
      caret: {line: lnum - 1, character: column - 1},
      coladd: coladd,
      curswant: curswant == v:maxcol ? v:maxcol : curswant - 1,
      topline: {line: line('w0', window) - 1, character: 0},
      height: winheight(window),
    })
  endfor
  return views
enddef

# In Insert mode, a caret stays before text inserted at its place. A caret on a character, or at the start of a
# line that moves down, moves with it.
def CarriedCaret(caret: dict<any>, edits: list<dict<any>>, isInsert: bool): dict<any>
  var position = caret
  for edit in edits->copy()->reverse()
    const isWholeLine = position.character == 0 && edit.newText =~ '\n$'
    position = text.Carried(position, edit, !isInsert || isWholeLine)
  endfor
  return position
enddef

def Restore(view: dict<any>, shadow: list<string>, edits: list<dict<any>>)
  const caret = CarriedCaret(view.caret, edits, view.isInsert)
  # The view stays on its text. At the top of the buffer it does not, so that new lines above become visible while there is room.
  const isAtTop = view.topline.line == 0 && caret.line < view.height - &scrolloff
  const topline = isAtTop ? 1 : CarriedCaret(view.topline, edits, false).line + 1
  const now = getcurpos(view.window)
  if now[1] == caret.line + 1 && now[2] == caret.character + 1 && line('w0', view.window) == topline
    return
  endif
  final wanted = {lnum: caret.line + 1, col: caret.character, coladd: view.coladd, topline: topline}
  wanted.curswant = view.curswant
  if caret.character != view.caret.character && view.curswant < v:maxcol
    const shown = shadow->get(caret.line, '')->strpart(0, caret.character)
    wanted.curswant = strdisplaywidth(shown)
  endif
  if view.window == win_getid()
    winrestview(wanted)
  else
    win_execute(view.window, $'noautocmd call winrestview({string(wanted)})')
  endif
enddef

# The other end of a selection in the current window.
def Anchor(bufnr: number): dict<any>
  if bufnr != bufnr() || mode() !~ "^[vV\<C-v>]"
    return {}
  endif
  const position = getpos('v')
  return {mode: mode(), line: position[1] - 1, character: position[2] - 1}
enddef

def RestoreAnchor(bufnr: number, anchor: dict<any>, edits: list<dict<any>>)
  if empty(anchor)
    return
  endif
  const wanted = CarriedCaret({line: anchor.line, character: anchor.character}, edits, false)
  const now = getpos('v')
  if now[1] == wanted.line + 1 && now[2] == wanted.character + 1
    return
  endif
  # Vim can set this end only by starting the selection there.
  const caret = getcurpos()
  execute "noautocmd normal! \<Esc>"
  setpos('.', [0, wanted.line + 1, wanted.character + 1, 0])
  execute $'noautocmd normal! {anchor.mode}'
  setpos('.', caret)
enddef
