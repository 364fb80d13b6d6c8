/// A three-way merge in which each new line of either side stays a line of its own.
///
/// A finer merge keeps letters and line ends that an old line and a new one share. If the other side deletes the old line, it deletes
/// those from the new one: lines run together, or go. Where that happens, whole lines are merged instead.
struct LineMerge {
  let base: [UInt8]
  let ours: [UInt8]
  let theirs: [UInt8]

  /// The merged text; nil if `merged`, which a finer merge has made, has every new line.
  ///
  /// - Complexity: O(n) in the texts, plus that of `TextDiff` where they differ
  func whole(insteadOf merged: [UInt8]) -> [UInt8]? {
    let hunks = hunks
    guard !hunks.ours.isEmpty, !hunks.theirs.isEmpty, !has(newLines(hunks), in: merged) else { return nil }
    return SharedLines.chunks(of: base, by: hunks.ours, and: hunks.theirs).flatMap { self.merged($0) }
  }

  private typealias Hunks = (ours: [LineHunk], theirs: [LineHunk])

  private var hunks: Hunks { (LineHunk.hunks(from: base, to: ours), LineHunk.hunks(from: base, to: theirs)) }

  /// The lines of both sides that have no word of what they replace.
  private func newLines(_ hunks: Hunks) -> [ArraySlice<UInt8>] {
    (hunks.ours + hunks.theirs).flatMap { hunk in
      let old = Self.words(of: base[hunk.base])
      return SharedLines.lines(of: hunk.lines[...]).filter { line in
        let words = Self.words(of: line)
        return !words.isEmpty && words.isDisjoint(with: old)
      }
    }
  }

  private func merged(_ chunk: SharedLines.Chunk) -> [UInt8] {
    if chunk.ours == chunk.base || chunk.ours == chunk.theirs { return chunk.theirs }
    if chunk.theirs == chunk.base { return chunk.ours }
    let way = TextDiff.delta(from: chunk.base, to: chunk.ours, finest: .words, placement: .withinLines)
    let change = TextDiff.delta(from: chunk.base, to: chunk.theirs, finest: .words, placement: .withinLines)
    let finer = change.transformed(over: way).0.applied(to: chunk.ours)
    let merge = LineMerge(base: chunk.base, ours: chunk.ours, theirs: chunk.theirs)
    return merge.has(merge.newLines(merge.hunks), in: finer) ? finer : chunk.added
  }

  /// Whether the text has each of these lines as often as they are given. Its last line has no line feed only if that is so on a side.
  private func has(_ lines: [ArraySlice<UInt8>], in text: [UInt8]) -> Bool {
    let isOpen = [ours, theirs].contains { !$0.isEmpty && $0.last != 0x0A }
    guard isOpen || text.isEmpty || text.last == 0x0A else { return false }
    var counts = Dictionary(SharedLines.lines(of: text[...]).map { (Self.content(of: $0), 1) }, uniquingKeysWith: +)
    return lines.allSatisfy { line in
      counts[Self.content(of: line), default: 0] -= 1
      return counts[Self.content(of: line), default: 0] >= 0
    }
  }

  /// A line without its line feed.
  private static func content(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == 0x0A ? line.dropLast() : line
  }

  private static func words(of text: ArraySlice<UInt8>) -> Set<ArraySlice<UInt8>> {
    Set(text.split { WordKind($0) != .letter })
  }
}
