import Automerge

/// Finds the lines that two sides have both added to a text.
///
/// Both texts are split at the lines of the base that both sides kept. The lines between two of these are a chunk:
///
///     base   ──  kept  │ old          │ kept
///     ours   ──  kept  │ tea          │ kept
///     theirs ──  kept  │ jam tea old  │ kept     ► the new base: kept │ tea old │ kept
///
/// A line that both have added in one chunk counts as the same line: an editor wrote it to the file, or a process
/// that was killed since merged it from the file.
struct SharedLines {
  /// A line of one side.
  private struct Line {
    let bytes: ArraySlice<UInt8>
    /// The number of this line in the base; nil if the side added it.
    let base: Int?

    var isBlank: Bool { bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D } }
  }

  private let baseLines: [ArraySlice<UInt8>]

  /// The base together with the lines that both sides added; nil if there are none.
  ///
  /// - Complexity: O(n) in the texts, plus that of `TextDiff` in what was added
  static func added(to base: [UInt8], by ours: [LineHunk], and theirs: [LineHunk]) -> [UInt8]? {
    SharedLines(baseLines: lines(of: base[...])).added(by: ours, and: theirs)
  }

  private func added(by ours: [LineHunk], and theirs: [LineHunk]) -> [UInt8]? {
    var (result, hasAdded): ([ArraySlice<UInt8>], Bool) = ([], false)
    for part in parts(of: ours, and: theirs) {
      let common = Self.common(part.ours, part.theirs)
      hasAdded = hasAdded || !common.isEmpty
      result += merged(part.base, part.ours, part.theirs, common)
      if let kept = part.kept { result.append(kept) }
    }
    return hasAdded ? result.flatMap { $0 } : nil
  }

  /// The lines between two lines that both sides kept.
  private struct Part {
    var base: Range<Int>
    var ours: [Line]
    var theirs: [Line]
    /// The kept line after it; nil at the end.
    var kept: ArraySlice<UInt8>?
  }

  private func parts(of ours: [LineHunk], and theirs: [LineHunk]) -> [Part] {
    let (ours, theirs) = (lines(of: ours), lines(of: theirs))
    let kept = Set(ours.compactMap(\.base)).intersection(theirs.compactMap(\.base))
    let ends = kept.sorted() + [baseLines.count]
    return zip(zip([-1] + ends, ends), zip(split(ours, at: kept), split(theirs, at: kept))).map { base, sides in
      Part(
        base: base.0 + 1..<base.1, ours: sides.0, theirs: sides.1,
        kept: base.1 < baseLines.count ? baseLines[base.1] : nil)
    }
  }

  /// The lines between two lines that both sides kept, or one of these.
  struct Chunk {
    var base: [UInt8]
    var ours: [UInt8]
    var theirs: [UInt8]
    /// The lines that either side added, and none of the base's: between the kept ones, one of the sides deleted each.
    var added: [UInt8]
  }

  /// The chunks in order, and the kept lines between them.
  static func chunks(of base: [UInt8], by ours: [LineHunk], and theirs: [LineHunk]) -> [Chunk] {
    SharedLines(baseLines: lines(of: base[...])).chunks(by: ours, and: theirs)
  }

  private func chunks(by ours: [LineHunk], and theirs: [LineHunk]) -> [Chunk] {
    parts(of: ours, and: theirs).flatMap { part -> [Chunk] in
      let chunk = Chunk(
        base: baseLines[part.base].flatMap { $0 }, ours: part.ours.flatMap(\.bytes),
        theirs: part.theirs.flatMap(\.bytes),
        added: Self.joined((part.ours + part.theirs).filter { $0.base == nil }.map(\.bytes)))
      let kept = part.kept.map { Chunk(base: Array($0), ours: Array($0), theirs: Array($0), added: []) }
      return [chunk, kept].compactMap(\.self)
    }
  }

  private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] {
    lines.dropLast().flatMap { $0.last == 0x0A ? $0 : $0 + [0x0A] } + (lines.last ?? [])
  }

  /// The base's lines of a chunk in their places among the common ones.
  private func merged(
    _ base: Range<Int>, _ ours: [Line], _ theirs: [Line], _ common: [(ours: Int, theirs: Int)]
  ) -> [ArraySlice<UInt8>] {
    guard !common.isEmpty else { return base.map { baseLines[$0] } }
    /// The count of common lines before a base line, on the side that has kept it; those that neither has kept come
    /// last.
    func places(_ lines: [Line], _ commonIndices: [Int]) -> [Int: Int] {
      var (places, passed) = ([Int: Int](), 0)
      for (index, line) in lines.enumerated() {
        if passed < commonIndices.count, commonIndices[passed] == index { passed += 1 }
        if let number = line.base { places[number] = passed }
      }
      return places
    }
    let places = places(ours, common.map(\.ours)).merging(places(theirs, common.map(\.theirs))) { _, their in their }
    var gaps = [[ArraySlice<UInt8>]](repeating: [], count: common.count + 1)
    for number in base { gaps[places[number] ?? common.count].append(baseLines[number]) }
    return zip(gaps, common).flatMap { $0 + [theirs[$1.theirs].bytes] } + gaps[common.count]
  }

  // MARK: Sides

  static func lines(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var (lines, start) = ([ArraySlice<UInt8>](), text.startIndex)
    while start < text.endIndex {
      let end = text[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? text.endIndex
      lines.append(text[start..<end])
      start = end
    }
    return lines
  }

  /// The text of a side.
  private func lines(of hunks: [LineHunk]) -> [Line] {
    var (lines, next, offset) = ([Line](), 0, 0)
    for hunk in hunks {
      while next < baseLines.count, offset < hunk.base.lowerBound {
        lines.append(Line(bytes: baseLines[next], base: next))
        offset += baseLines[next].count
        next += 1
      }
      lines += Self.lines(of: hunk.lines[...]).map { Line(bytes: $0, base: nil) }
      while next < baseLines.count, offset < hunk.base.upperBound {
        offset += baseLines[next].count
        next += 1
      }
    }
    return lines + (next..<baseLines.count).map { Line(bytes: baseLines[$0], base: $0) }
  }

  private func split(_ lines: [Line], at kept: Set<Int>) -> [[Line]] {
    lines.split(omittingEmptySubsequences: false) { $0.base.map(kept.contains) ?? false }.map(Array.init)
  }

  // MARK: Common lines

  /// The places of the lines that both sides added, as a diff finds them. Blank lines alone do not count.
  private static func common(_ ours: [Line], _ theirs: [Line]) -> [(ours: Int, theirs: Int)] {
    let mine = ours.indices.filter { ours[$0].base == nil }, their = theirs.indices.filter { theirs[$0].base == nil }
    guard !mine.isEmpty, !their.isEmpty else { return [] }
    let delta = TextDiff.delta(
      from: mine.flatMap { ours[$0].bytes }, to: their.flatMap { theirs[$0].bytes }, finest: .lines,
      placement: .beforeDeleted)
    var pairs: [(ours: Int, theirs: Int)] = []
    var (from, to) = (mine[...], their[...])
    func keep(_ run: Zip2Sequence<ArraySlice<Int>, ArraySlice<Int>>) {
      if run.contains(where: { !ours[$0.0].isBlank }) { pairs += run.map { ($0.0, $0.1) } }
    }
    for segment in delta.segments {
      switch segment {
      case .retain(let count): keep(zip(take(count, of: ours, &from), take(count, of: theirs, &to)))
      case .delete(let piece): take(piece.count, of: ours, &from)
      case .insert(let piece): take(piece.count, of: theirs, &to)
      }
    }
    // A delta does not name what it keeps at the end.
    keep(zip(from, to))
    return pairs
  }

  /// Takes the first lines, which have this many bytes.
  @discardableResult
  private static func take(_ byteCount: Int, of side: [Line], _ lines: inout ArraySlice<Int>) -> ArraySlice<Int> {
    var (end, rest) = (lines.startIndex, byteCount)
    while rest > 0, end < lines.endIndex {
      rest -= side[lines[end]].bytes.count
      end += 1
    }
    defer { lines = lines[end...] }
    return lines[..<end]
  }
}
