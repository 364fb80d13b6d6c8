vim9script
# Text as the service sees it: values only, no buffer is changed here.
#
# A text is a list of lines, split at "\n"; a final newline shows as a last ''. "" is [''], "\n" is ['', ''].
# A position is {line, character}, both from 0, `character` in UTF-8 bytes. An edit is {range: {start, end}, newText}.

import autoload 'notes_lsp/frames.vim'

# Whether a buffer's file ends with a newline that its lines do not show.
export def HasFinalNewline(bufnr: number): bool
  return getbufvar(bufnr, '&endofline') || (getbufvar(bufnr, '&fixendofline') && !getbufvar(bufnr, '&binary'))
enddef

# The text of a loaded buffer. `wasEmpty` decides between "" and "\n" where Vim cannot tell: in a hidden buffer.
export def OfBuffer(bufnr: number, wasEmpty: bool): list<string>
  final lines = getbufline(bufnr, 1, '$')
  if HasFinalNewline(bufnr) && !(lines ==# [''] && HasNoLine(bufnr, wasEmpty))
    lines->add('')
  endif
  return lines
enddef

# A buffer without lines looks like one with an empty line. Only the byte count differs, and it is known only in a window.
def HasNoLine(bufnr: number, wasEmpty: bool): bool
  if bufnr == bufnr()
    return wordcount().bytes == 0
  endif
  const windows = win_findbuf(bufnr)
  return empty(windows) ? wasEmpty : win_execute(windows[0], 'echon wordcount().bytes') ==# '0'
enddef

# The text as lines.
export def Lines(text: string): list<string>
  return frames.Parts(text, "\n")
enddef

# UTF-8 bytes of a text.
export def ByteCount(lines: list<string>): number
  return len(lines->join("\n"))
enddef

# The one edit that makes `new` from `old`, or {} when they are equal: {edit, bytes, at, count}, with the growth in
# bytes and the place of the lines in `new` that differ.
# `hint` {above, until}: the change is believed to be under that many lines at the top of `new` and to end there; a
# wrong hint costs time only.
# `caret` {line, character, behind}: where the caret is in `new`, and the end of the letter under it, or {}. It decides which of
# several equal letters was deleted or typed, so that text that others inserted beside them stays in its place.
export def Difference(old: list<string>, new: list<string>, hint: dict<number>, caret: dict<number> = {}): dict<any>
  if old ==# new
    return {}
  endif
  var [above, below] = Believed(old, new, hint)
  if above < 0
    above = EqualAbove(old, new)
    below = EqualBelow(old, new, above)
  endif
  return EditBetween(old, new, above, below, caret)
enddef

# The hint, narrowed to the lines that differ, or [-1, -1] if it is wrong. Comparing two lists is much
# cheaper than copying parts of them, so the hint is proved by patching `old` for a moment.
def Believed(old: list<string>, new: list<string>, hint: dict<number>): list<number>
  if empty(hint)
    return [-1, -1]
  endif
  const shorter = min([len(old), len(new)])
  const above = min([max([hint.above, 0]), shorter])
  const below = min([max([len(new) - hint.until, 0]), shorter - above])
  const oldMiddle = len(old) - below > above ? old->slice(above, len(old) - below) : []
  const newMiddle = len(new) - below > above ? new->slice(above, len(new) - below) : []
  Patch(old, above, len(oldMiddle), newMiddle)
  const holds = old ==# new
  Patch(old, above, len(newMiddle), oldMiddle)
  if !holds
    return [-1, -1]
  endif
  var room = min([len(oldMiddle), len(newMiddle)])
  var first = 0
  while first < room && oldMiddle[first] ==# newMiddle[first]
    first += 1
  endwhile
  room -= first
  var last = 0
  while last < room && oldMiddle[-1 - last] ==# newMiddle[-1 - last]
    last += 1
  endwhile
  return [above + first, below + last]
enddef

# Replaces `count` lines at index `at`, in place.
export def Patch(lines: list<string>, at: number, count: number, replacement: list<string>)
  if count > 0
    lines->remove(at, at + count - 1)
  endif
  if !empty(replacement)
    lines->extend(replacement, at)
  endif
enddef

# How many lines are equal from the top, by binary search.
def EqualAbove(old: list<string>, new: list<string>): number
  var low = 0
  var high = min([len(old), len(new)])
  while low < high
    const middle = (low + high + 1) / 2
    if old->slice(low, middle) ==# new->slice(low, middle)
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  return low
enddef

# How many of the lines under `above` are equal from the bottom, by binary search.
def EqualBelow(old: list<string>, new: list<string>, above: number): number
  const [oldCount, newCount] = [len(old), len(new)]
  var low = 0
  var high = min([oldCount, newCount]) - above
  while low < high
    const middle = (low + high + 1) / 2
    if old->slice(oldCount - middle, oldCount - low) ==# new->slice(newCount - middle, newCount - low)
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  return low
enddef

def EditBetween(old: list<string>, new: list<string>, above: number, below: number, caret: dict<number>): dict<any>
  const oldMiddle = old->slice(above, len(old) - below)
  const newMiddle = new->slice(above, len(new) - below)
  var start = {line: above, character: 0}
  var end = {line: len(old) - below, character: 0}
  var newText = newMiddle->join("\n")
  if !empty(oldMiddle) && !empty(newMiddle)
    # Lines against lines: keep what the first have in common at their start and the last at their end.
    const [oldLast, newLast] = [oldMiddle[-1], newMiddle[-1]]
    var front = CommonPrefix(oldMiddle[0], newMiddle[0])
    if len(oldMiddle) == 1 && len(newMiddle) == 1 && caret->get('line', -1) == above
      front = FrontByCaret(front, oldLast, newLast, caret)
    endif
    const oldRoom = len(oldLast) - (len(oldMiddle) == 1 ? front : 0)
    const newRoom = len(newLast) - (len(newMiddle) == 1 ? front : 0)
    const back = CommonSuffix(oldLast, newLast, min([oldRoom, newRoom]))
    start.character = front
    end = {line: above + len(oldMiddle) - 1, character: len(oldLast) - back}
    newText = newText->strpart(front, len(newText) - front - back)
  elseif below > 0
    # Whole lines, with something under them.
    newText ..= empty(newMiddle) ? '' : "\n"
  else
    # Whole lines at the end of the text take the newline before them.
    start = {line: above - 1, character: len(old[above - 1])}
    end = {line: len(old) - 1, character: len(old[-1])}
    newText = empty(newMiddle) ? '' : "\n" .. newText
  endif
  const edit = {range: {start: start, end: end}, newText: newText}
  return {
    edit: edit, bytes: len(newText) - ByteCountIn(old, edit.range), at: above, count: len(newMiddle),
  }
enddef

# How many bytes at the start of a line stay, at most `front`: up to the caret, if the change may equally well have been
# there. After a deletion at the end of a line the caret has moved back, so it does not help.
def FrontByCaret(front: number, old: string, new: string, caret: dict<number>): number
  const growth = len(new) - len(old)
  const at = growth > 0 ? caret.behind - growth : caret.character
  const hasSteppedBack = growth < 0 && caret.behind > caret.character && caret.behind == len(new)
  if at < 0 || at >= front || hasSteppedBack || IsInsideCharacter(old, at) || IsInsideCharacter(new, at)
      || old->strpart(at - min([growth, 0])) !=# new->strpart(at + max([growth, 0]))
    return front
  endif
  return at
enddef

# UTF-8 bytes between two positions.
export def ByteCountIn(lines: list<string>, range: dict<any>): number
  const [first, last] = [range.start, range.end]
  if first.line == last.line
    return last.character - first.character
  endif
  var count = len(lines[first.line]) - first.character + 1 + last.character
  for line in lines->slice(first.line + 1, last.line)
    count += len(line) + 1
  endfor
  return count
enddef

# Bytes that two strings have in common at their start; never part of a character.
export def CommonPrefix(one: string, other: string): number
  var low = 0
  var high = min([len(one), len(other)])
  while low < high
    const middle = (low + high + 1) / 2
    if one->strpart(low, middle - low) ==# other->strpart(low, middle - low)
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  while low > 0 && (IsInsideCharacter(one, low) || IsInsideCharacter(other, low))
    low -= 1
  endwhile
  return low
enddef

# Bytes that two strings have in common at their end, at most `limit`; never part of a character.
export def CommonSuffix(one: string, other: string, limit: number): number
  const [oneCount, otherCount] = [len(one), len(other)]
  var low = 0
  var high = limit
  while low < high
    const middle = (low + high + 1) / 2
    if one->strpart(oneCount - middle, middle - low) ==# other->strpart(otherCount - middle, middle - low)
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  while low > 0 && IsInsideCharacter(one, oneCount - low)
    low -= 1
  endwhile
  return low
enddef

def IsInsideCharacter(text: string, index: number): bool
  return index < len(text) && and(char2nr(text->strpart(index, 1)), 0xC0) == 0x80
enddef

# The edits with every position inside the text, as the protocol clamps them, and whether they ascend without overlap.
export def Clamped(lines: list<string>, edits: list<any>): list<dict<any>>
  var result: list<dict<any>> = []
  var from = {line: 0, character: 0}
  for edit in edits
    const start = ClampedPosition(lines, edit.range.start)
    const end = ClampedPosition(lines, edit.range.end)
    if IsBefore(start, from) || IsBefore(end, start) || type(edit.newText) != v:t_string
      throw 'its edits overlap or are out of order'
    endif
    result->add({range: {start: start, end: end}, newText: edit.newText})
    from = end
  endfor
  return result
enddef

export def ClampedPosition(lines: list<string>, position: dict<any>): dict<any>
  if position.line >= len(lines)
    return {line: len(lines) - 1, character: len(lines[-1])}
  endif
  const line = max([position.line, 0])
  return {line: line, character: min([max([position.character, 0]), len(lines[line])])}
enddef

export def IsBefore(one: dict<any>, other: dict<any>): bool
  return one.line < other.line || (one.line == other.line && one.character < other.character)
enddef

# Applies one edit to `lines` and returns what it did to whole lines: {at, count, lines, bytes}, without the lines that stay.
export def Splice(lines: list<string>, edit: dict<any>): dict<any>
  const [start, end] = [edit.range.start, edit.range.end]
  const grown = len(edit.newText) - ByteCountIn(lines, edit.range)
  var replacement = Lines(edit.newText)
  replacement[0] = lines[start.line]->strpart(0, start.character) .. replacement[0]
  replacement[-1] ..= lines[end.line]->strpart(end.character)
  var [at, count] = [start.line, end.line - start.line + 1]
  # The lines that stay keep their marks, folds and text properties, so they must not be set again.
  var kept = 0
  while kept < count && kept < len(replacement) && lines[at + kept] ==# replacement[kept]
    kept += 1
  endwhile
  replacement = replacement->slice(kept)
  [at, count] = [at + kept, count - kept]
  while count > 0 && !empty(replacement) && lines[at + count - 1] ==# replacement[-1]
    count -= 1
    replacement->remove(-1)
  endwhile
  Patch(lines, at, count, replacement)
  return {at: at, count: count, lines: replacement, bytes: grown}
enddef

# Where a position is after an edit. One at the place of an insertion stays before it, or goes after it if `pushed`.
export def Carried(position: dict<any>, edit: dict<any>, pushed: bool): dict<any>
  const [start, end] = [edit.range.start, edit.range.end]
  if IsBefore(position, start) || (position == start && !(pushed && start == end))
    return position
  endif
  const lineCount = count(edit.newText, "\n")
  const lastLength = len(edit.newText) - strridx(edit.newText, "\n") - 1
  const newEnd = {
    line: start.line + lineCount,
    character: lastLength + (lineCount == 0 ? start.character : 0),
  }
  if IsBefore(position, end)
    return newEnd
  endif
  if position.line > end.line
    return {line: position.line - end.line + newEnd.line, character: position.character}
  endif
  return {line: newEnd.line, character: newEnd.character + position.character - end.character}
enddef

# iconv is not in every Vim, and not every iconv knows the suffix that makes it check.
const canCheck = has('iconv') && iconv("\u00e9", 'utf-8', 'utf-8//IGNORE') ==# "\u00e9"

# Whether a string can go into a note: valid UTF-8, and no NUL, which a line of Vim holds as "\n".
export def IsSendable(text: string): bool
  if stridx(text, "\n") >= 0 || (len(text) < 65536 && text =~ '[\U110000-\U7fffffff]')
    return false
  endif
  return !canCheck || iconv(text, 'utf-8', 'utf-8//IGNORE') ==# text
enddef

# The string with everything that cannot go into a note replaced by U+FFFD, and a NUL by `nul`.
export def Sendable(text: string, nul = "\uFFFD"): string
  if IsSendable(text)
    return text
  elseif stridx(text, "\n") >= 0
    return Lines(text)->mapnew((_, part) => Sendable(part))->join(nul)
  elseif len(text) < 64
    return text->split('\zs')->mapnew((_, character) => IsSendable(character) ? character : "\uFFFD")->join('')
  endif
  # Looks letter by letter only around what is wrong, which takes long.
  var middle = len(text) / 2
  while middle > len(text) / 2 - 3 && IsInsideCharacter(text, middle)
    middle -= 1
  endwhile
  return Sendable(text->strpart(0, middle)) .. Sendable(text->strpart(middle))
enddef

export def HasNul(lines: list<string>): bool
  return stridx(lines->join(''), "\n") >= 0
enddef

# The lines as one text, with `frames.nul` for each NUL.
export def Joined(lines: list<string>): string
  return (HasNul(lines) ? lines->mapnew((_, line) => Lines(line)->join(frames.nul)) : lines)->join("\n")
enddef
