/// Turns a client's batch of changes, each in the coordinates of the text after the earlier ones, into one delta.
///
/// Consecutive changes that are in order, from top to bottom or from bottom to top, are collected and composed once: a
/// substitution with 10,000 changes costs 10,000 look-ups, not 10,000 walks over all of them.
struct ChangeBatch<Source: TextSource> {
  /// All changes so far, except those of the open run.
  private(set) var change = TextDelta.identity
  /// Whether a change so far was a whole text or replaced whole lines.
  private(set) var replacesLines = false

  private let source: Source
  private let encoding: PositionEncoding
  /// Leads from the source to the text before the open run.
  private var way: TextDelta
  private var text: TextView<Source>

  /// How many segments may be walked for the runs of a batch before its text is written out: each run costs a walk over
  /// the segments of the earlier runs and of what the client lacks.
  private static var maximumSegments: Int { 4096 }
  private var segments = 0
  /// The text, once it is written out; `finishRun` compares it with `text`.
  private var flat: LineText?

  /// Replaced parts, in the coordinates of `text`, from left to right; `before` is reversed.
  private var before: [Edit] = []
  private var after: [Edit] = []
  /// Where the text before the first of them ends; nothing has changed up to there.
  private var head: Position?
  /// Where the text after the last of them begins; nil if the edits came from bottom to top.
  private var tail: Tail?

  private struct Edit {
    var range: Range<Int>
    var step: TextDelta
  }

  private struct Replacement {
    var range: Range<Int>
    var new: [UInt8]
    var isWholeLines: Bool
  }

  private struct Tail {
    /// An offset in `text`.
    var offset: Int
    var old: Position
    /// The same place after the changes.
    var new: Position
    var followsDeletion: Bool
  }

  /// - Parameter way: the delta from `source` to the client's text
  init(of source: Source, way: TextDelta, encoding: PositionEncoding) {
    (self.source, self.way, self.encoding) = (source, way, encoding)
    text = TextView(of: source, through: way)
  }

  /// Applies one change. Returns false, and changes nothing more, if its range ends before it starts.
  mutating func take(_ entry: ContentChange) -> Bool {
    let encoding = encoding
    switch entry {
    case .fullText(let new):
      finishRun()
      replacesLines = true
      compose(TextDiff.delta(from: text.allUTF8, to: new))
    case .difference(let difference):
      finishRun()
      replacesLines = true
      compose(difference)
    case .replace(var range, let new):
      range.start.clamp()
      range.end.clamp()
      if flat != nil { return flat?.replace(range, with: new, in: encoding) ?? false }
      if let tail, let start = offset(of: range.start, behind: tail), let end = offset(of: range.end, behind: tail) {
        guard start <= end else { return false }
        let part = widened(start..<end, new)
        let first = tail.followsDeletion ? tail.offset + 1 : tail.offset
        if part.range.lowerBound >= first {
          append(part, at: text.position(utf8Offset: part.range.lowerBound, in: encoding), behind: tail)
          return true
        }
      } else if let head, let start = offset(of: range.start, before: head),
        let end = offset(of: range.end, before: head)
      {
        guard start <= end else { return false }
        let part = widened(start..<end, new)
        if part.range.upperBound <= text.utf8Offset(of: head, in: encoding) {
          before.append(edit(part))
          self.head = text.position(utf8Offset: part.range.lowerBound, in: encoding)
          tail = nil
          return true
        }
      }
      finishRun()
      segments += way.segments.count + 1
      if segments > Self.maximumSegments, !change.isIdentity {
        flat = LineText(text.allUTF8)
        return flat?.replace(range, with: new, in: encoding) ?? false
      }
      let start = text.utf8Offset(of: range.start, in: encoding)
      let end = range.start == range.end ? start : text.utf8Offset(of: range.end, in: encoding)
      guard start <= end else { return false }
      let part = widened(start..<end, new)
      let place = text.position(utf8Offset: part.range.lowerBound, in: encoding)
      head = place
      append(
        part, at: place, behind: Tail(offset: part.range.lowerBound, old: place, new: place, followsDeletion: false))
    }
    return true
  }

  /// Composes what was collected, which completes `change`.
  mutating func finishRun() {
    if let written = flat {
      flat = nil
      segments = 0
      replacesLines = true
      compose(TextDiff.delta(from: text.allUTF8, to: written.bytes))
    }
    guard head != nil else { return }
    var builder = DeltaBuilder()
    var offset = 0
    for edit in before.reversed() + after {
      builder.retain(edit.range.lowerBound - offset)
      builder.append(edit.step, spanning: edit.range.count)
      offset = edit.range.upperBound
    }
    (before, after, head, tail) = ([], [], nil, nil)
    compose(builder.delta)
  }

  private mutating func compose(_ step: TextDelta) {
    change = change.composed(with: step)
    way = way.composed(with: step)
    text = TextView(of: source, through: way)
  }

  private mutating func edit(_ part: Replacement) -> Edit {
    let old = text.utf8(part.range)
    guard part.isWholeLines else {
      return Edit(range: part.range, step: TextDelta(utf8Offset: 0, deleted: old, inserted: part.new).refined)
    }
    replacesLines = true
    return Edit(range: part.range, step: TextDiff.delta(from: old, to: part.new))
  }

  /// How many bytes of its first and last line a change may be widened by, so that a change never costs as much as a text that
  /// is one line.
  private static var maximumWidening: Int { 16 << 10 }

  /// The change as one of whole lines if line ends replace line ends, which no typing does: an editor may leave out what the
  /// first and the last line keep, but each line has to stay one beside another person's line.
  /// - Complexity: O(log n) and the length of what is replaced; that of two lines if it has line ends
  private func widened(_ range: Range<Int>, _ new: [UInt8]) -> Replacement {
    let part = Replacement(range: range, new: new, isWholeLines: false)
    guard !range.isEmpty, new.contains(0x0A) else { return part }
    let (start, end) = (text.measure(utf8Offset: range.lowerBound), text.measure(utf8Offset: range.upperBound))
    guard start.newlines < end.newlines, let first = text.measure(line: start.newlines)?.utf8 else { return part }
    let endsLine = new.last == 0x0A && text.measure(line: end.newlines)?.utf8 == end.utf8
    let last = endsLine ? end.utf8 : text.measure(line: end.newlines + 1)?.utf8 ?? text.measure.utf8
    guard (start.utf8 - first) + (last - end.utf8) <= Self.maximumWidening else { return part }
    return Replacement(
      range: first..<last, new: text.utf8(first..<start.utf8) + new + text.utf8(end.utf8..<last), isWholeLines: true)
  }

  /// - Parameter start: the position of the range's start in `text`
  private mutating func append(_ part: Replacement, at start: Position, behind tail: Tail) {
    let (range, new) = (part.range, part.new)
    after.append(edit(part))
    var end = start
    if start.line == tail.old.line { end.character += tail.new.character - tail.old.character }
    end.line += tail.new.line - tail.old.line
    let piece = TextPiece(new)
    if let newline = new.lastIndex(of: 0x0A) {
      end.character = TextPiece(Array(new[(newline + 1)...])).measure[encoding.unit]
    } else {
      end.character += piece.measure[encoding.unit]
    }
    end.line += piece.measure.newlines
    self.tail = Tail(
      offset: range.upperBound,
      old: range.isEmpty ? start : text.position(utf8Offset: range.upperBound, in: encoding), new: end,
      followsDeletion: !range.isEmpty)
  }

  /// The offset in `text` of a place after the last edit; nil if the place is not after it, or is directly at its
  /// deletion, since new text goes before the tombstones.
  private func offset(of position: Position, behind tail: Tail) -> Int? {
    guard position.line >= tail.new.line, position.line > tail.new.line || position.character >= tail.new.character
    else {
      return nil
    }
    var old = position
    old.line = tail.old.line + (position.line - tail.new.line)
    if position.line == tail.new.line {
      old.character = tail.old.character + (position.character - tail.new.character)
    }
    let offset = text.utf8Offset(of: old, in: encoding)
    return tail.followsDeletion && offset == tail.offset ? nil : offset
  }

  /// The offset in `text` of a place before the first edit; nil if the place is not before it.
  private func offset(of position: Position, before head: Position) -> Int? {
    guard position.line <= head.line, position.line < head.line || position.character <= head.character else {
      return nil
    }
    return text.utf8Offset(of: position, in: encoding)
  }
}

extension Position {
  /// Far more lines and columns than a text can have, and far fewer than could overflow in a sum.
  private static let farthest = 1 << 40

  fileprivate mutating func clamp() {
    line = min(line, Self.farthest)
    character = min(character, Self.farthest)
  }
}
