vim9script
# Edits of the others in a real buffer: its text, its final newline, carets, marks; then 2,000 random steps.

import autoload 'notes_lsp/apply.vim'
import autoload 'notes_lsp/text.vim'
import './verdict.vim'

# A buffer with that text, shown in the current window.
def Fill(lines: list<string>): number
  enew!
  setlocal undolevels=-1 noswapfile
  if lines != ['']
    const hasNewline = lines[-1] == ''
    setline(1, hasNewline ? lines->slice(0, -1) : lines)
    if !hasNewline
      setlocal noendofline nofixendofline
    endif
  endif
  assert_equal(lines, text.OfBuffer(bufnr(), true), 'the buffer is not what the test wants')
  return bufnr()
enddef

def Edit(startLine: number, start: number, endLine: number, end: number, newText: string): dict<any>
  return {range: {start: {line: startLine, character: start}, end: {line: endLine, character: end}}, newText: newText}
enddef

# Applies edits to the current buffer and checks that buffer, shadow and byte count agree with `expected`.
def Apply(before: list<string>, edits: list<dict<any>>, expected: list<string>)
  final shadow = before->copy()
  const grown = apply.Edits(bufnr(), shadow, edits)
  assert_equal(expected, shadow, $'shadow: {before} with {edits}')
  assert_equal(expected, text.OfBuffer(bufnr(), false), $'buffer: {before} with {edits}')
  assert_equal(text.ByteCount(expected) - text.ByteCount(before), grown, $'bytes: {before} with {edits}')
enddef

const table: list<list<any>> = [
  [[''], [Edit(0, 0, 0, 0, 'a')], ['a']],
  [[''], [Edit(0, 0, 0, 0, "a\n")], ['a', '']],
  [[''], [Edit(0, 0, 0, 0, "\n")], ['', '']],
  [[''], [Edit(0, 0, 0, 0, "a\n\n")], ['a', '', '']],
  [['', ''], [Edit(0, 0, 1, 0, '')], ['']],
  [['', ''], [Edit(1, 0, 1, 0, 'a')], ['', 'a']],
  [['a', ''], [Edit(0, 0, 1, 0, '')], ['']],
  [['a', ''], [Edit(0, 0, 0, 1, '')], ['', '']],
  [['a', ''], [Edit(0, 1, 1, 0, '')], ['a']],
  [['a', ''], [Edit(1, 0, 1, 0, 'b')], ['a', 'b']],
  [['a', ''], [Edit(1, 0, 1, 0, "b\n")], ['a', 'b', '']],
  [['a', ''], [Edit(0, 1, 0, 1, "\n")], ['a', '', '']],
  [['a', '', ''], [Edit(1, 0, 2, 0, '')], ['a', '']],
  [['a', '', ''], [Edit(0, 1, 2, 0, '')], ['a']],
  [['a'], [Edit(0, 1, 0, 1, "\n")], ['a', '']],
  [['a'], [Edit(0, 0, 0, 1, '')], ['']],
  [['a', 'b'], [Edit(0, 1, 1, 1, '')], ['a']],
  [['a', 'b'], [Edit(0, 0, 1, 0, '')], ['b']],
  [['a', 'b', ''], [Edit(0, 0, 2, 0, '')], ['']],
  [['a', 'b', ''], [Edit(0, 0, 2, 0, 'x')], ['x']],
  [['a', 'b', ''], [Edit(0, 0, 0, 0, 'é'), Edit(1, 0, 1, 1, '😀'), Edit(2, 0, 2, 0, "c\n")], ['éa', '😀', 'c', '']],
  [['abcdef', ''], [Edit(0, 0, 0, 1, ''), Edit(0, 2, 0, 3, "x\ny"), Edit(0, 5, 0, 6, '')], ['bx', 'yde', '']],
  [['a', 'b', 'c', ''], [Edit(0, 1, 1, 0, ''), Edit(1, 1, 2, 0, '')], ['abc', '']],
]

def EditsOfTheTable()
  for [before, edits, expected] in table
    Fill(before)
    Apply(before, edits, expected)
  endfor
enddef

def HiddenBuffersAreChangedToo()
  for [before, edits, expected] in table
    const bufnr = Fill(before)
    set hidden
    enew
    final shadow = before->copy()
    apply.Edits(bufnr, shadow, edits)
    assert_equal(expected, text.OfBuffer(bufnr, shadow == ['']), $'hidden: {before} with {edits}')
    execute $'bwipeout! {bufnr}'
  endfor
enddef

def CaretsMarksAndViewsStayWithTheirText()
  const lines = range(1, 100)->mapnew((_, it) => $'line {it}') + ['']
  Fill(lines)
  cursor(50, 4)
  normal! zt
  :40mark a
  normal! ma
  :50
  cursor(50, 4)
  split
  cursor(20, 2)
  const above = win_getid(winnr('#'))
  Apply(lines, [Edit(10, 0, 10, 0, "new\n"), Edit(49, 0, 49, 0, 'é')], lines->slice(0, 10) + ['new']
    + lines->slice(10, 49) + ['éline 50'] + lines->slice(50))
  assert_equal([21, 2], [line('.'), col('.')])
  assert_equal([51, 6], getcurpos(above)[1 : 2])
  assert_equal(51, line("'a") == 0 ? 0 : getpos("'a")[1])
  only!
enddef

def ACaretInAShortNoteSeesWhatComesInAbove()
  Fill(['b', ''])
  redraw
  Apply(['b', ''], [Edit(0, 0, 0, 0, "a\n")], ['a', 'b', ''])
  assert_equal([2, 1], [line('.'), line('w0')])
enddef

def SelectionsKeepBothEnds()
  Fill(['abc', 'def', 'ghi', ''])
  cursor(2, 2)
  var ends: list<any> = []
  # The edit comes while the selection is being made.
  g:NotesTestApply = () => {
    Apply(['abc', 'def', 'ghi', ''], [Edit(0, 0, 0, 0, "x\n"), Edit(1, 0, 1, 0, 'é')], ['x', 'abc', 'édef', 'ghi', ''])
    ends = [getpos('v')[1 : 2], getpos('.')[1 : 2], mode()]
  }
  execute "normal! vj:\<C-u>\<Esc>"
  cursor(2, 2)
  execute "normal! vj\<Cmd>call g:NotesTestApply()\<CR>\<Esc>"
  assert_equal([[3, 4], [4, 2], 'v'], ends)
  unlet g:NotesTestApply
enddef

def UndoTakesBackNothingOfOthers()
  Fill(['mine', ''])
  Apply(['mine', ''], [Edit(0, 0, 0, 0, 'theirs ')], ['theirs mine', ''])
  silent! normal! u
  silent! undo
  silent! execute "normal! g-"
  silent! earlier 1h
  silent! normal! U
  assert_equal(['theirs mine'], getline(1, '$'))
enddef

var seed: list<number> = []

def Below(limit: number): number
  return rand(seed) % limit
enddef

const words = ['one', ' two', "e\u0301", "\u0323", '日本', '😀', 'x y z', '', '12', "a\tb"]
const commands = [
  'normal! x', 'normal! dd', 'normal! 3dd', 'normal! J', 'normal! yyP', 'normal! yyp', 'normal! ddp', 'normal! D',
  'normal! ggdG', 'normal! gqap', 'normal! ~', "normal! 5\<C-a>", 'normal! dw', 'normal! dG', 'normal! dgg',
  's/\w/&&/g', '%s/o/0/g', 's/$/\rnew/', 'g/one/d', 'g/^$/d', 'g/two/t.', 'sort', 'sort!', '%d', '1,2move $',
  'normal! 5P', 'retab', '2,3d', "normal! \<C-v>jd", 'normal! vGd', 'normal! guu', 'normal! gUU', 'normal! >>',
  'silent! undo', 'silent! normal! u', 'setlocal endofline',
]

def RandomCommand()
  cursor(Below(line('$')) + 1, Below(12) + 1)
  const kind = Below(3)
  if kind == 0
    execute 'normal! ' .. ['i', 'a', 'o', 'O', 'A', 'R', 'cw'][Below(7)] .. words[Below(len(words))] .. "\<Esc>"
  elseif kind == 1
    setline(Below(line('$')) + 1, words[Below(len(words))] .. words[Below(len(words))])
  else
    execute 'silent! ' .. commands[Below(len(commands))]
  endif
enddef

def RandomPosition(lines: list<string>): dict<any>
  const line = Below(len(lines))
  const characters = strcharlen(lines[line])
  return {line: line, character: byteidx(lines[line], Below(characters + 1))}
enddef

def RandomEdit(lines: list<string>): dict<any>
  var [start, end] = [RandomPosition(lines), RandomPosition(lines)]
  if Below(2) == 0
    end = start
  elseif text.IsBefore(end, start)
    [start, end] = [end, start]
  endif
  const newText = [words[Below(len(words))], "\n", "a\nb", "c\n", ''][Below(5)]
  return {range: {start: start->copy(), end: end->copy()}, newText: newText}
enddef

# What a service would know: the text made of the differences alone.
def ShadowFollowsTwoThousandRandomSteps()
  const number = $NOTES_TEST_SEED == '' ? 7 : str2nr($NOTES_TEST_SEED)
  seed = srand(number)
  var shadow = ['one two three', 'four', '']
  Fill(shadow)
  var bytes = text.ByteCount(shadow)
  for step in range(2000)
    if Below(3) == 0
      final edits = [RandomEdit(shadow)]
      final expected = shadow->copy()
      text.Splice(expected, edits[0])
      bytes += apply.Edits(bufnr(), shadow, edits)
      assert_equal(expected, shadow, $'seed {number}, step {step}: shadow with {edits}')
      assert_equal(expected, text.OfBuffer(bufnr(), false), $'seed {number}, step {step}: buffer with {edits}')
    else
      RandomCommand()
      const now = text.OfBuffer(bufnr(), false)
      const difference = text.Difference(shadow, now, {})
      if !empty(difference)
        text.Splice(shadow, difference.edit)
        bytes += difference.bytes
      endif
      assert_equal(now, shadow, $'seed {number}, step {step}: difference')
    endif
    assert_equal(text.ByteCount(shadow), bytes, $'seed {number}, step {step}: bytes')
    if !empty(v:errors)
      return
    endif
    if line('$') > 200
      :50,$delete _
    endif
  endfor
enddef

verdict.Run([
  ['EditsOfTheTable', EditsOfTheTable],
  ['HiddenBuffersAreChangedToo', HiddenBuffersAreChangedToo],
  ['CaretsMarksAndViewsStayWithTheirText', CaretsMarksAndViewsStayWithTheirText],
  ['ACaretInAShortNoteSeesWhatComesInAbove', ACaretInAShortNoteSeesWhatComesInAbove],
  ['SelectionsKeepBothEnds', SelectionsKeepBothEnds],
  ['UndoTakesBackNothingOfOthers', UndoTakesBackNothingOfOthers],
  ['ShadowFollowsTwoThousandRandomSteps', ShadowFollowsTwoThousandRandomSteps],
])
