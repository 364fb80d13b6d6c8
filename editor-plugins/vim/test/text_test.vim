vim9script
# The values: differences, splices, carried positions, what can be sent.

import autoload 'notes_lsp/frames.vim'
import autoload 'notes_lsp/text.vim'
import './verdict.vim'

def Text(lines: list<string>): string
  return lines->join("\n")
enddef

# A text with an edit made on it, by another way than the plugin's: as one string of bytes.
def Edited(lines: list<string>, edit: dict<any>): list<string>
  const whole = Text(lines)
  const Offset = (position) => {
    var offset = position.character
    for line in lines->slice(0, position.line)
      offset += len(line) + 1
    endfor
    return offset
  }
  const result = whole->strpart(0, Offset(edit.range.start)) .. edit.newText .. whole->strpart(Offset(edit.range.end))
  return text.Lines(result)
enddef

# From, to, and the edit as [line, character, line, character, text]; no edit for equal texts.
const differences: list<list<any>> = [
  [[''], [''], []],
  [[''], ['a', ''], [0, 0, 0, 0, "a\n"]],
  [[''], ['', ''], [0, 0, 0, 0, "\n"]],
  [['', ''], [''], [0, 0, 1, 0, '']],
  [['a', ''], ['ab', ''], [0, 1, 0, 1, 'b']],
  [['a', 'b', ''], ['a', ''], [1, 0, 2, 0, '']],
  [['a', 'b'], ['a'], [0, 1, 1, 1, '']],
  [['a'], ['a', ''], [0, 1, 0, 1, "\n"]],
  [['a', ''], ['a'], [0, 1, 1, 0, '']],
  [['a', ''], ['x', 'a', ''], [0, 0, 0, 0, "x\n"]],
  [['a', 'b', ''], ['a', 'x', 'b', ''], [1, 0, 1, 0, "x\n"]],
  [['one two', ''], ['one', 'two', ''], [0, 3, 0, 4, "\n"]],
  [['one', 'two', ''], ['one two', ''], [0, 3, 1, 0, ' ']],
  [['aé', ''], ['aè', ''], [0, 1, 0, 3, 'è']],
  [['é', ''], ['ĩ', ''], [0, 0, 0, 2, 'ĩ']],
  [['😀', ''], ['😁', ''], [0, 0, 0, 4, '😁']],
  [['e', ''], ["e\u0301", ''], [0, 1, 0, 1, "\u0301"]],
  [['日本', ''], ['日', ''], [0, 3, 0, 6, '']],
  [['aaa', ''], ['aa', ''], [0, 2, 0, 3, '']],
]

def DifferencesAreMinimalAndNeverSplitCharacters()
  for [old, new, expected] in differences
    for hint in [{}, {above: 0, until: 1}, {above: 1, until: 1}, {above: 5, until: 0}, {above: 0, until: 99}]
      final before: list<string> = old->copy()
      const difference = text.Difference(before, new, hint)
      assert_equal(old, before, 'a hint changed the old text')
      if empty(expected)
        assert_equal({}, difference)
        continue
      endif
      const [start, end] = [difference.edit.range.start, difference.edit.range.end]
      const actual = [start.line, start.character, end.line, end.character, difference.edit.newText]
      assert_equal(expected, actual, $'{old} → {new}')
      assert_equal(len(Text(new)) - len(Text(old)), difference.bytes)
    endfor
  endfor
enddef

# [old line, new line, caret {character, behind}, expected [start.character, end.character, newText]]: what the caret says about
# equal letters.
const slides = [
  ['one two three', 'one three', {character: 4, behind: 5}, [4, 8, '']],
  ['one two three', 'one three', {character: 2, behind: 3}, [5, 9, '']],
  ['aaaa', 'aaa', {character: 1, behind: 1}, [1, 2, '']],
  ['aaaa', 'aaa', {character: 2, behind: 3}, [3, 4, '']],
  ['aaaa', 'aaaaa', {character: 2, behind: 2}, [1, 1, 'a']],
  ['aaaa', 'aaaaa', {character: 1, behind: 2}, [1, 1, 'a']],
  ['éé', 'ééé', {character: 2, behind: 2}, [0, 0, 'é']],
  ['éé', 'ééé', {character: 1, behind: 3}, [4, 4, 'é']],
  ['abc', 'axc', {character: 1, behind: 2}, [1, 2, 'x']],
]

def TheCaretTellsWhichOfEqualLettersWentOrCame()
  for [old, new, caret, expected] in slides
    const edit = text.Difference([old, ''], [new, ''], {}, caret->copy()->extend({line: 0})).edit
    assert_equal(expected, [edit.range.start.character, edit.range.end.character, edit.newText], $'{old} → {new} {string(caret)}')
  endfor
enddef

var seed = srand(20240229)

def Below(limit: number): number
  return rand(seed) % limit
enddef

const pieces = ['', 'a', 'b', 'aa', 'é', "e\u0301", "\u0323", '日本', '😀', "a\tb"]

def SomeText(): list<string>
  return range(Below(6) + 1)->mapnew((_, _) => pieces[Below(len(pieces))] .. pieces[Below(len(pieces))])
enddef

def SomeCaret(): dict<number>
  const character = Below(8)
  return Below(2) == 0 ? {} : {line: Below(6), character: character, behind: character + Below(3)}
enddef

def EveryDifferenceMakesTheNewText()
  for round in range(3000)
    final old = SomeText()
    final new = SomeText()
    const difference = text.Difference(old, new, Below(2) == 0 ? {} : {above: Below(4), until: Below(6)},
      SomeCaret())
    if empty(difference)
      assert_equal(old, new)
      continue
    endif
    assert_equal(new, Edited(old, difference.edit), $'round {round}: {old} → {new}')
    final before = old->copy()
    const step = text.Splice(before, difference.edit)
    assert_equal(new, before, $'round {round}: spliced')
    assert_equal(difference.bytes, step.bytes)
  endfor
enddef

def LinesThatStayAreNotReplaced()
  final lines = ['a', 'b', 'c', '']
  var step = text.Splice(lines, {range: {start: {line: 1, character: 0}, end: {line: 1, character: 0}}, newText: "x\n"})
  assert_equal([1, 0, ['x']], [step.at, step.count, step.lines])
  step = text.Splice(lines, {range: {start: {line: 1, character: 1}, end: {line: 2, character: 1}}, newText: ''})
  assert_equal([2, 1, []], [step.at, step.count, step.lines])
  assert_equal(['a', 'x', 'c', ''], lines)
enddef

# Position, edit [line, character, line, character, text], whether pushed, and where it ends up.
const carried: list<list<any>> = [
  [[0, 2], [0, 0, 0, 0, 'xy'], false, [0, 4]],
  [[0, 0], [0, 0, 0, 0, 'xy'], false, [0, 0]],
  [[0, 0], [0, 0, 0, 0, 'xy'], true, [0, 2]],
  [[1, 3], [0, 0, 0, 0, "x\ny\n"], false, [3, 3]],
  [[0, 3], [0, 1, 0, 1, "x\nyz"], false, [1, 4]],
  [[0, 3], [0, 1, 0, 5, ''], false, [0, 1]],
  [[0, 1], [0, 1, 0, 5, ''], true, [0, 1]],
  [[2, 3], [0, 1, 2, 1, ''], false, [0, 3]],
  [[2, 3], [0, 1, 2, 3, "é\n"], false, [1, 0]],
  [[5, 0], [0, 1, 2, 3, ''], false, [3, 0]],
  [[0, 0], [1, 0, 1, 0, 'x'], true, [0, 0]],
]

def PositionsAreCarriedOverEdits()
  for [position, edit, pushed, expected] in carried
    const result = text.Carried({line: position[0], character: position[1]}, {
      range: {start: {line: edit[0], character: edit[1]}, end: {line: edit[2], character: edit[3]}}, newText: edit[4],
    }, pushed)
    assert_equal(expected, [result.line, result.character], $'{position} over {edit}')
  endfor
enddef

def PositionsOutsideTheTextAreClamped()
  const lines = ['ab', 'c']
  assert_equal({line: 1, character: 1}, text.ClampedPosition(lines, {line: 7, character: 0}))
  assert_equal({line: 0, character: 2}, text.ClampedPosition(lines, {line: 0, character: 9}))
  assert_equal({line: 0, character: 0}, text.ClampedPosition(lines, {line: -1, character: -1}))
enddef

def EditsOutOfOrderAreRefused()
  const Edit = (start, end) => ({
    range: {start: {line: 0, character: start}, end: {line: 0, character: end}}, newText: '',
  })
  assert_equal(2, text.Clamped(['abcdef'], [Edit(0, 2), Edit(2, 3)])->len())
  for edits in [[Edit(3, 2)], [Edit(2, 4), Edit(3, 5)], [Edit(4, 5), Edit(0, 1)]]
    var refused = false
    try
      text.Clamped(['abcdef'], edits)
    catch /out of order/
      refused = true
    endtry
    assert_true(refused, string(edits))
  endfor
enddef

# In a pattern of Vim, a letter does not match where a mark is combined with it.
def ALineMayBeginWithACombiningMark()
  assert_equal(['a', "\u0323b", '', ''], text.Lines("a\n\u0323b\n\n"))
  final lines = ['one', 'two']
  const step = text.Splice(lines, {range: {start: {line: 0, character: 3}, end: {line: 0, character: 3}}, newText: "\n\u0323b"})
  assert_equal(['one', "\u0323b", 'two'], lines)
  assert_equal(4, step.bytes)
  assert_equal($"a{frames.nul}\u0323b\nc", text.Joined(["a\n\u0323b", 'c']))
enddef

def OnlyTextCanBeSent()
  for good in ['', 'abc', 'é', "e\u0301", '😀', "\t"]
    assert_true(text.IsSendable(good), good)
    assert_equal(good, text.Sendable(good))
  endfor
  # A lone byte, half a surrogate pair, beyond Unicode, and a NUL as Vim holds it.
  for [bad, mended] in [["a\xe9b", "a\uFFFDb"], ["\ud800", "\uFFFD"], ["\U7fffffff", "\uFFFD"], ["a\nb", "a\uFFFDb"],
      ["a\n\u0323b", "a\uFFFD\u0323b"]]
    assert_false(text.IsSendable(bad), strtrans(bad))
    assert_equal(mended, text.Sendable(bad))
    # In a long line too, wherever it stands, and beside letters of any length.
    for [before, after] in [['', repeat('é', 999)], [repeat('aé日😀', 99), repeat('😀日éa', 98)], [repeat('日', 333), '']]
      assert_equal(before .. mended .. after, text.Sendable(before .. bad .. after))
    endfor
  endfor
  assert_equal(repeat("\uFFFD", 500), text.Sendable(repeat("\xbf", 500)))
  assert_equal("a\n\uFFFDb", text.Sendable("a\n\xffb", "\n"))
enddef

verdict.Run([
  ['DifferencesAreMinimalAndNeverSplitCharacters', DifferencesAreMinimalAndNeverSplitCharacters],
  ['TheCaretTellsWhichOfEqualLettersWentOrCame', TheCaretTellsWhichOfEqualLettersWentOrCame],
  ['EveryDifferenceMakesTheNewText', EveryDifferenceMakesTheNewText],
  ['LinesThatStayAreNotReplaced', LinesThatStayAreNotReplaced],
  ['PositionsAreCarriedOverEdits', PositionsAreCarriedOverEdits],
  ['PositionsOutsideTheTextAreClamped', PositionsOutsideTheTextAreClamped],
  ['EditsOutOfOrderAreRefused', EditsOutOfOrderAreRefused],
  ['ALineMayBeginWithACombiningMark', ALineMayBeginWithACombiningMark],
  ['OnlyTextCanBeSent', OnlyTextCanBeSent],
])
