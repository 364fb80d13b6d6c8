/// Tells the lines that someone has rewritten from lines that merely stand where others stood.
///
/// A comparison by letters finds some that two unrelated lines share, and their line ends. If a new line kept those of the old
/// one, another person who deletes the old line, or undoes its deletion, would tear the new one or join it to the next.
struct RewrittenLines {
  private let old: [UInt8]
  private let new: [UInt8]
  /// What both texts have, a part for each pair of lines.
  private var parts: [Part] = []

  private struct Part {
    var old: Range<Int>
    var new: Range<Int>
    var lines: Lines
  }

  /// A line of the old text and one of the new, by their starts.
  private struct Lines: Hashable {
    var old: Int
    var new: Int
  }

  /// - Parameters:
  ///   - oldRange: whole lines of the old text, and `newRange` of the new
  ///   - hunks: the differences between them
  static func hunks(
    _ hunks: some Collection<TextDiff.Hunk>, from old: [UInt8], _ oldRange: Range<Int>, to new: [UInt8],
    _ newRange: Range<Int>
  ) -> [TextDiff.Hunk] {
    var lines = RewrittenLines(old: old, new: new)
    lines.cut(hunks, oldRange, newRange)
    return lines.differences(oldRange, newRange)
  }

  private init(old: [UInt8], new: [UInt8]) { (self.old, self.new) = (old, new) }

  private mutating func cut(_ hunks: some Collection<TextDiff.Hunk>, _ oldRange: Range<Int>, _ newRange: Range<Int>) {
    var lines = Lines(old: oldRange.lowerBound, new: newRange.lowerBound)
    var place = (old: oldRange.lowerBound, new: newRange.lowerBound)
    let end = TextDiff.Hunk(
      old: oldRange.upperBound..<oldRange.upperBound, new: newRange.upperBound..<newRange.upperBound)
    for hunk in Array(hunks) + [end] {
      while place.old < hunk.old.lowerBound {
        let rest = old[place.old..<hunk.old.lowerBound]
        let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
        let next = (old: end, new: place.new + end - place.old)
        parts.append(Part(old: place.old..<next.old, new: place.new..<next.new, lines: lines))
        if old[end - 1] == 0x0A { lines = Lines(old: next.old, new: next.new) }
        place = next
      }
      if let newline = old[hunk.old].lastIndex(of: 0x0A) { lines.old = newline + 1 }
      if let newline = new[hunk.new].lastIndex(of: 0x0A) { lines.new = newline + 1 }
      place = (hunk.old.upperBound, hunk.new.upperBound)
    }
  }

  private func differences(_ oldRange: Range<Int>, _ newRange: Range<Int>) -> [TextDiff.Hunk] {
    let rewritten = rewritten
    let (stayingOld, stayingNew) = (Set(rewritten.map(\.old)), Set(rewritten.map(\.new)))
    var hunks: [TextDiff.Hunk] = []
    var place = (old: oldRange.lowerBound, new: newRange.lowerBound)
    func add(upTo end: (old: Int, new: Int)) {
      guard place != end else { return }
      hunks.append(TextDiff.Hunk(old: place.old..<end.old, new: place.new..<end.new))
    }
    for part in parts {
      var (a, b) = (part.old, part.new)
      if !rewritten.contains(part.lines) {
        // A line that stays keeps its line end, whichever line that ends now.
        guard old[a.upperBound - 1] == 0x0A,
          stayingOld.contains(part.lines.old) || stayingNew.contains(part.lines.new)
        else { continue }
        (a, b) = (a.upperBound - 1..<a.upperBound, b.upperBound - 1..<b.upperBound)
      }
      add(upTo: (a.lowerBound, b.lowerBound))
      place = (a.upperBound, b.upperBound)
    }
    add(upTo: (oldRange.upperBound, newRange.upperBound))
    return hunks
  }

  /// The pairs of lines that share a word; or at least half of the shorter one, if they begin or end alike; or else half of the
  /// longer one.
  private var rewritten: Set<Lines> {
    var shared: [Lines: Int] = [:]
    var (found, alike): (Set<Lines>, Set<Lines>) = ([], [])
    for part in parts {
      let byteCount = part.old.count - (old[part.old.upperBound - 1] == 0x0A ? 1 : 0)
      shared[part.lines, default: 0] += byteCount
      if hasWord(part) { found.insert(part.lines) }
      if byteCount > 0, isAtEdge(part) { alike.insert(part.lines) }
    }
    let (oldLengths, newLengths) = (lineLengths(shared.keys.map(\.old), old), lineLengths(shared.keys.map(\.new), new))
    for (lines, byteCount) in shared {
      let lengths = [oldLengths[lines.old] ?? 0, newLengths[lines.new] ?? 0].sorted()
      // Two empty lines are one line.
      let half = alike.contains(lines) ? lengths[0] : lengths[1]
      if byteCount > 0 ? byteCount * 2 >= half : lengths[1] == 0 { found.insert(lines) }
    }
    return found
  }

  /// Whether the part begins both lines, or ends both.
  private func isAtEdge(_ part: Part) -> Bool {
    if part.old.lowerBound == part.lines.old, part.new.lowerBound == part.lines.new { return true }
    return endsLine(part.old.upperBound, of: old) && endsLine(part.new.upperBound, of: new)
  }

  private func endsLine(_ end: Int, of text: [UInt8]) -> Bool {
    text[end - 1] == 0x0A || end == text.count || text[end] == 0x0A
  }

  /// The lengths of the lines at these starts. A long line may be in thousands of pairs, and is read once.
  private func lineLengths(_ starts: [Int], _ text: [UInt8]) -> [Int: Int] {
    let known = Set(starts).map { ($0, (text[$0...].firstIndex(of: 0x0A) ?? text.count) - $0) }
    return Dictionary(uniqueKeysWithValues: known)
  }

  /// Whether the part has a word that is a whole word in both texts.
  private func hasWord(_ part: Part) -> Bool {
    old[part.old].split { WordKind($0) != .letter }.contains { word in
      let before = word.startIndex == part.old.lowerBound
      let after = word.endIndex == part.old.upperBound
      return !(before && (isLetter(part.old.lowerBound - 1, old) || isLetter(part.new.lowerBound - 1, new)))
        && !(after && (isLetter(part.old.upperBound, old) || isLetter(part.new.upperBound, new)))
    }
  }

  private func isLetter(_ offset: Int, _ text: [UInt8]) -> Bool {
    text.indices.contains(offset) && WordKind(text[offset]) == .letter
  }
}
