/// A three-way merge in which each new line of either side stays a line of its own.
///
/// A finer merge keeps letters and line ends that an old line and a new one share. If the other side deletes the old
/// line, it deletes those from the new one, too: lines run together, or disappear. Where that happens, whole lines are
/// merged instead.
struct LineMerge {
  private let base: [UInt8]
  private let ours: [UInt8]
  private let theirs: [UInt8]
  private let ourHunks: [LineHunk]
  private let theirHunks: [LineHunk]

  /// - Parameters:
  ///   - ourHunks: the difference from `base` to `ours`, if it is known
  ///   - theirHunks: the same for `theirs`
  init(
    base: [UInt8], ours: [UInt8], theirs: [UInt8], ourHunks: [LineHunk]? = nil, theirHunks: [LineHunk]? = nil
  ) {
    (self.base, self.ours, self.theirs) = (base, ours, theirs)
    self.ourHunks = ourHunks ?? LineHunk.hunks(from: base, to: ours)
    self.theirHunks = theirHunks ?? LineHunk.hunks(from: base, to: theirs)
  }

  /// The merged text; nil if `merged`, which a finer merge has made, has every new line and tears none.
  ///
  /// - Parameters:
  ///   - way: the delta from `base` to `ours` of the finer merge
  ///   - change: the same for `theirs`
  /// - Complexity: O(n) in the texts, plus that of `TextDiff` where they differ
  func whole(insteadOf merged: [UInt8], by way: TextDelta, and change: @autoclosure () -> TextDelta) -> [UInt8]? {
    guard !ourHunks.isEmpty, !theirHunks.isEmpty, tears(merged, by: way, and: change()) else { return nil }
    return SharedLines.chunks(of: base, by: ourHunks, and: theirHunks).flatMap { self.merged($0) }
  }

  private func tears(_ merged: [UInt8], by way: TextDelta, and change: TextDelta) -> Bool {
    let conflicts = LineConflicts(base: base, way: way, change: change)
    return conflicts.tearLines || !has(newLines, merged) || !has(conflicts.newLines, merged)
  }

  /// The lines of both sides that have no word of what they replace, except for words that the other side deletes.
  private var newLines: [ArraySlice<UInt8>] {
    newLines(of: ourHunks, beside: theirHunks) + newLines(of: theirHunks, beside: ourHunks)
  }

  private func newLines(of hunks: [LineHunk], beside others: [LineHunk]) -> [ArraySlice<UInt8>] {
    var deleted = others.filter(\.lines.isEmpty).map(\.base)[...]
    return hunks.flatMap { hunk in
      var kept: [UInt8] = []
      var start = hunk.base.lowerBound
      while let range = deleted.first, range.lowerBound < hunk.base.upperBound {
        kept += base[start..<max(start, min(range.lowerBound, hunk.base.upperBound))]
        start = min(hunk.base.upperBound, max(start, range.upperBound))
        // A deletion that goes on behind this hunk counts for the next one, too.
        guard range.upperBound <= hunk.base.upperBound else { break }
        deleted.removeFirst()
      }
      kept += base[start..<hunk.base.upperBound]
      let old = Self.words(of: kept[...])
      let same = Set(SharedLines.lines(of: base[hunk.base]).map(Self.content))
      return SharedLines.lines(of: hunk.lines[...]).filter { line in
        let words = Self.words(of: line)
        return !words.isEmpty && words.isDisjoint(with: old) && !same.contains(Self.content(of: line))
      }
    }
  }

  private func merged(_ chunk: SharedLines.Chunk) -> [UInt8] {
    if chunk.ours == chunk.base || chunk.ours == chunk.theirs { return chunk.theirs }
    if chunk.theirs == chunk.base { return chunk.ours }
    let way = TextDiff.delta(from: chunk.base, to: chunk.ours, finest: .words)
    let change = TextDiff.delta(from: chunk.base, to: chunk.theirs, finest: .words)
    let finer = change.transformed(over: way).0.applied(to: chunk.ours)
    let merge = LineMerge(base: chunk.base, ours: chunk.ours, theirs: chunk.theirs)
    return merge.tears(finer, by: way, and: change) ? chunk.added : finer
  }

  /// Whether the text has each of these lines as often as the sides do, and a last line without a line feed only if a
  /// side has one.
  private func has(_ newLines: [ArraySlice<UInt8>], _ text: [UInt8]) -> Bool {
    let isOpen = [ours, theirs].contains { !$0.isEmpty && $0.last != 0x0A }
    guard isOpen || text.isEmpty || text.last == 0x0A else { return false }
    var counts = Dictionary(SharedLines.lines(of: text[...]).map { (Self.content(of: $0), 1) }, uniquingKeysWith: +)
    return newLines.allSatisfy { line in
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
