/// What two sides did to the same lines of a base, where a merge by words would tear lines.
///
///     base    line 3 tea        eat at ten        meet Bob at ten
///     ours    (deleted)         eat at six        meet Bob at six
///     theirs  line 4 tea        eat at two        meet Ben at ten
///     merged  4                 eat at twosix     meet Ben at six
///
/// In the first column one side deleted the line that the other seems to have changed: the few words that are left of
/// the new line are no line. In the second both replaced the same word. In the third both kept most of the line, and
/// each change has its place.
struct LineConflicts {
  private let base: [UInt8]
  private let sides: [Side]

  /// - Parameters:
  ///   - way: the delta from `base` to one side's text
  ///   - change: the same for the other side
  /// - Complexity: O(n) in the base and the insertions
  init(base: [UInt8], way: TextDelta, change: TextDelta) {
    self.base = base
    sides = [Side(base, way), Side(base, change)]
  }

  /// Whether a merge by words would tear a line.
  ///
  /// - Complexity: O(n · log s) in the changed lines, s the segments
  var tearLines: Bool {
    zip(sides, sides.reversed()).contains { side, other in
      let kept = side.lines.flatMap(\.kept)
      return baseLines(of: kept.flatMap(other.deleted)).contains { isGone($0, from: other) }
        || baseLines(of: kept).contains { replaceSameWords(of: $0, side, other) }
    }
  }

  /// The lines that have no word of the base.
  var newLines: [ArraySlice<UInt8>] {
    sides.flatMap(\.lines).filter { line in
      line.text.hasWords && !line.kept.contains { base[$0].hasWords }
    }.map { $0.text[...] }
  }

  /// Whether a side has kept at most half of a line, by words as well as by bytes: a text without spaces counts as one
  /// word. A line in which a word was corrected is still there, however few words it has.
  private func isGone(_ line: Range<Int>, from side: Side) -> Bool {
    let words = words(of: line)
    let rest = side.kept(in: line).reduce(0) { $0 + base[$1].wordByteCount }
    guard rest * 2 <= base[line].wordByteCount, words.count(where: side.keeps) * 2 <= words.count else { return false }
    return !side.lines.contains { new in
      new.kept.contains { $0.overlaps(line) && base[$0].hasWords } && isAlike(new.text[...], base[line])
    }
  }

  /// Whether two lines differ in less than half of their bytes, in one place. Capitals do not count.
  private func isAlike(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    let (one, other) = (one.map(\.lowercased), other.map(\.lowercased))
    let start = zip(one, other).prefix { $0 == $1 }.count
    let end = zip(one.dropFirst(start).reversed(), other.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    return (start + end) * 2 > max(one.count, other.count)
  }

  /// Whether both sides replace words of a base line between the same two of its words.
  private func replaceSameWords(of line: Range<Int>, _ side: Side, _ other: Side) -> Bool {
    var (start, haveCommon, areReplaced) = (line.lowerBound, false, false)
    var (isChanged, isChangedByOther) = (false, false)
    func finishRun(at end: Int) {
      if isChanged, isChangedByOther, !areReplaced {
        areReplaced = [side, other].allSatisfy { $0.inserts(wordsIn: start...end, ofLineAt: line.lowerBound) }
      }
      (isChanged, isChangedByOther) = (false, false)
    }
    for word in words(of: line) {
      let (isKept, isKeptByOther) = (keeps(side, word), keeps(other, word))
      if isKept, isKeptByOther {
        finishRun(at: word.lowerBound)
        (start, haveCommon) = (word.upperBound, true)
      } else {
        isChanged = isChanged || !isKept
        isChangedByOther = isChangedByOther || !isKeptByOther
      }
    }
    finishRun(at: line.upperBound - (base[line].last == 0x0A ? 1 : 0))
    return haveCommon && areReplaced
  }

  private func keeps(_ side: Side, _ word: Range<Int>) -> Bool {
    side.keeps(word) && !(WordKind(base[word.lowerBound]) == .letter && side.prolongs(word))
  }

  /// The words of a line, and its punctuation marks.
  private func words(of line: Range<Int>) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start = line.lowerBound
    while start < line.upperBound {
      var end = start + 1
      if WordKind(base[start]) == .letter {
        while end < line.upperBound, WordKind(base[end]) == .letter { end += 1 }
      }
      if base[start..<end].hasWords { words.append(start..<end) }
      start = end
    }
    return words
  }

  /// The lines of the base that contain some of these ranges, which are in order.
  private func baseLines(of ranges: [Range<Int>]) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    for range in ranges {
      var start = max(range.lowerBound, lines.last?.upperBound ?? 0)
      while start < range.upperBound {
        let lower = base[..<start].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let upper = base[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? base.count
        lines.append(lower..<upper)
        start = upper
      }
    }
    return lines
  }
}

/// What a side did to the base.
private struct Side {
  /// A line of the side that is not one of the base.
  struct Line {
    var text: [UInt8] = []
    /// The ranges of the base that it has kept, in order.
    var kept: [Range<Int>] = []
  }

  private(set) var lines: [Line] = []
  /// The ranges of the base that the side has kept, in order.
  private var kept: [Range<Int>] = []
  /// In the order of their places in the base.
  private var insertions: [(offset: Int, bytes: [UInt8])] = []
  /// The line that has no end yet.
  private var line = Line()

  init(_ base: [UInt8], _ delta: TextDelta) {
    var offset = 0
    for segment in delta.segments {
      switch segment {
      case .retain(let count):
        keep(offset..<offset + count, of: base)
        offset += count
      case .insert(let piece):
        insertions.append((offset, piece.bytes))
        for byte in piece.bytes {
          line.text.append(byte)
          if byte == 0x0A { endLine(of: base) }
        }
      case .delete(let piece): offset += piece.count
      }
    }
    keep(offset..<base.count, of: base)
    endLine(of: base)
  }

  private mutating func keep(_ range: Range<Int>, of base: [UInt8]) {
    guard !range.isEmpty else { return }
    kept.append(range)
    let newline = base[range].firstIndex(of: 0x0A)
    add(range.lowerBound..<(newline.map { $0 + 1 } ?? range.upperBound), of: base)
    guard let newline else { return }
    endLine(of: base)
    // Whole lines of the base come next.
    let last = base[range].lastIndex(of: 0x0A) ?? newline
    add(last + 1..<range.upperBound, of: base)
  }

  private mutating func add(_ range: Range<Int>, of base: [UInt8]) {
    guard !range.isEmpty else { return }
    line.kept.append(range)
    line.text += base[range]
  }

  private mutating func endLine(of base: [UInt8]) {
    if !line.text.isEmpty, !isLine(of: base) { lines.append(line) }
    line = Line()
  }

  /// Whether the line is one of the base. The last one may have got a line feed.
  private func isLine(of base: [UInt8]) -> Bool {
    guard let range = line.kept.first, range.lowerBound == 0 || base[range.lowerBound - 1] == 0x0A else { return false }
    if range.upperBound == base.count, line.text.dropLast().count == range.count { return line.text.last == 0x0A }
    return line.text.count == range.count && (range.upperBound == base.count || base[range.upperBound - 1] == 0x0A)
  }

  /// The parts of a range that the side has kept.
  func kept(in range: Range<Int>) -> [Range<Int>] {
    let first = kept.start { range.lowerBound < $0.upperBound }
    return kept[first...].prefix { $0.lowerBound < range.upperBound }.map { $0.clamped(to: range) }
  }

  /// The parts of a range that the side has deleted.
  func deleted(in range: Range<Int>) -> [Range<Int>] {
    var (deleted, start) = ([Range<Int>](), range.lowerBound)
    for part in kept(in: range) {
      if start < part.lowerBound { deleted.append(start..<part.lowerBound) }
      start = part.upperBound
    }
    if start < range.upperBound { deleted.append(start..<range.upperBound) }
    return deleted
  }

  func keeps(_ range: Range<Int>) -> Bool { deleted(in: range).isEmpty }

  private func inserted(in offsets: ClosedRange<Int>) -> some Sequence<(offset: Int, bytes: [UInt8])> {
    let first = insertions.start { offsets.lowerBound <= $0.offset }
    return insertions[first...].prefix { $0.offset <= offsets.upperBound }
  }

  /// Whether the side makes a longer word of this one.
  func prolongs(_ word: Range<Int>) -> Bool {
    inserted(in: word.lowerBound...word.upperBound).contains { offset, bytes in
      switch offset {
      case word.lowerBound: bytes.last.map { WordKind($0) == .letter } ?? false
      case word.upperBound: bytes.first.map { WordKind($0) == .letter } ?? false
      default: true
      }
    }
  }

  /// Whether the side inserts words there, except for lines before the one that begins at `start`.
  func inserts(wordsIn offsets: ClosedRange<Int>, ofLineAt start: Int) -> Bool {
    inserted(in: offsets).contains { offset, bytes in
      bytes.hasWords && (offset > start || bytes.last != 0x0A)
    }
  }
}

extension Array {
  /// The first index whose element meets a condition that all later ones meet, too; the end if there is none.
  fileprivate func start(where isReached: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Collection<UInt8> {
  fileprivate var wordByteCount: Int { count { !$0.isBlank } }
  fileprivate var hasWords: Bool { !allSatisfy(\.isBlank) }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
  fileprivate var isBlank: Bool { self == 0x0A || self == 0x0D || self == 0x20 || self == 0x09 }
}
