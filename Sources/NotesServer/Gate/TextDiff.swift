/// Finds a small difference between two texts: by lines, then by words and scalars inside what changed.
///
/// The work is bounded: if two parts have little in common, or little is left of the budget, one replaces the other.
enum TextDiff {
  /// How many elements the comparison of lines may examine, and how many that of words and scalars inside the lines;
  /// each takes about 20 ns.
  private static let lineBudget = 2_000_000
  private static let wordBudget = 2_000_000
  /// The cost of splitting and numbering a token, in elements.
  private static let tokenCost = 3

  /// The delta from `old` to `new`. Both must be valid UTF-8; no sequence is ever split.
  ///
  /// - Parameters:
  ///   - finest: `.lines` replaces whole lines only
  ///   - placement: where new text is put in relation to the old text that it replaces
  static func delta(
    from old: [UInt8], to new: [UInt8], finest: TextTokens.Grain = .scalars, placement: Placement = .withinLines
  ) -> TextDelta {
    var diff = Run(old: old, new: new, finest: finest, placement: placement)
    diff.compare(0..<old.count, 0..<new.count, by: .lines)
    return diff.delta
  }

  /// The same for whole texts, off the loop.
  @concurrent
  static func offLoop(from old: [UInt8], to new: [UInt8]) async -> TextDelta {
    delta(from: old, to: new)
  }

  /// Where new text is put in relation to the old text that it replaces. Both give the same text, but not the same
  /// merge.
  enum Placement {
    /// Before the deleted text, where an editor puts what a person types over a selection.
    case beforeDeleted
    /// Where a line that replaces another one stays a line, even if another person wrote lines next to the old one. For
    /// whole texts, where it is unknown how one line became the other; also if the delta is what a buffer or a file lacks, since a
    /// person may be typing a line between those that it replaces.
    case withinLines
  }

  /// A replaced part: `old` of one text by `new` of the other. Either may be empty.
  struct Hunk {
    var old: Range<Int>
    var new: Range<Int>
  }

  private struct Run {
    let old: [UInt8]
    let new: [UInt8]
    let finest: TextTokens.Grain
    let placement: Placement
    var hunks: [Hunk] = []
    var lineBudget = TextDiff.lineBudget
    var wordBudget = TextDiff.wordBudget

    init(old: [UInt8], new: [UInt8], finest: TextTokens.Grain, placement: Placement) {
      (self.old, self.new, self.finest, self.placement) = (old, new, finest, placement)
    }

    mutating func compare(_ oldRange: Range<Int>, _ newRange: Range<Int>, by grain: TextTokens.Grain) {
      let core = trimmed(oldRange, newRange)
      if core.old.isEmpty && core.new.isEmpty { return }
      if finest != .lines && (core.old.isEmpty || core.new.isEmpty) {
        hunks.append(core)
        return
      }
      let whole = widened(core, within: oldRange, newRange, to: grain)
      let (a, b) = (whole.old, whole.new)
      let budget = grain == .lines ? lineBudget : wordBudget
      let fewestTokens = (a.count + b.count) / (grain == .lines ? 32 : 2)
      guard !a.isEmpty, !b.isEmpty, fewestTokens < budget, max(a.count, b.count) <= Int32.max / 4 else {
        hunks.append(finest == .lines ? whole : core)
        return
      }
      let tokens = TextTokens.cut(old, a, new, b, by: grain)
      var sequences = SequenceDiff(
        tokens.old.numbers, tokens.new.numbers, distinct: tokens.distinct,
        budget: budget - TextDiff.tokenCost * (tokens.old.count + tokens.new.count))
      var matches = sequences.run()
      if grain == .lines { lineBudget = sequences.budget } else { wordBudget = sequences.budget }
      if grain != .lines { matches = worthKeeping(matches, tokens.old, tokens.new, by: grain) }
      let first = hunks.count
      var (oldStart, newStart) = (0, 0)
      for match in matches + [.init(old: tokens.old.count, new: tokens.new.count, count: 0)] {
        refine(
          tokens.old.bytes(oldStart..<match.old), tokens.new.bytes(newStart..<match.new), after: grain)
        (oldStart, newStart) = (match.old + match.count, match.new + match.count)
      }
      guard grain == .words, placement == .withinLines else { return }
      hunks[first...] = RewrittenLines.hunks(hunks[first...], from: old, oldRange, to: new, newRange)[...]
    }

    private mutating func refine(_ a: Range<Int>, _ b: Range<Int>, after grain: TextTokens.Grain) {
      if a.isEmpty && b.isEmpty { return }
      if grain == finest {
        hunks.append(Hunk(old: a, new: b))
        return
      }
      switch grain {
      case .lines: compare(a, b, by: .words)
      case .words: compare(a, b, by: .scalars)
      case .scalars: hunks.append(Hunk(old: a, new: b))
      }
    }

    /// Both ranges without what the texts have in common at their start and end, in whole scalars.
    private func trimmed(_ oldRange: Range<Int>, _ newRange: Range<Int>) -> Hunk {
      old.withUnsafeBufferPointer { old in
        new.withUnsafeBufferPointer { new in
          let most = min(oldRange.count, newRange.count)
          var prefix = 0
          while prefix < most, old[oldRange.lowerBound + prefix] == new[newRange.lowerBound + prefix] { prefix += 1 }
          func splits(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
            index < text.count && text[index].continuesScalar
          }
          while prefix > 0, splits(oldRange.lowerBound + prefix, old) || splits(newRange.lowerBound + prefix, new) {
            prefix -= 1
          }
          var suffix = 0
          while suffix < most - prefix, old[oldRange.upperBound - 1 - suffix] == new[newRange.upperBound - 1 - suffix] {
            suffix += 1
          }
          while suffix > 0, splits(oldRange.upperBound - suffix, old) { suffix -= 1 }
          return Hunk(
            old: oldRange.lowerBound + prefix..<oldRange.upperBound - suffix,
            new: newRange.lowerBound + prefix..<newRange.upperBound - suffix)
        }
      }
    }

    /// The hunk, extended by equal text around it until its tokens are whole.
    private func widened(
      _ hunk: Hunk, within oldRange: Range<Int>, _ newRange: Range<Int>, to grain: TextTokens.Grain
    ) -> Hunk {
      var (a, b) = (hunk.old, hunk.new)
      while a.lowerBound > oldRange.lowerBound,
        !(isBorder(a.lowerBound, in: old, of: grain) && isBorder(b.lowerBound, in: new, of: grain))
      {
        a = a.lowerBound - 1..<a.upperBound
        b = b.lowerBound - 1..<b.upperBound
      }
      while a.upperBound < oldRange.upperBound,
        !(isBorder(a.upperBound, in: old, of: grain) && isBorder(b.upperBound, in: new, of: grain))
      {
        a = a.lowerBound..<a.upperBound + 1
        b = b.lowerBound..<b.upperBound + 1
      }
      return Hunk(old: a, new: b)
    }

    /// True if a token may start at the offset.
    private func isBorder(_ offset: Int, in text: [UInt8], of grain: TextTokens.Grain) -> Bool {
      guard offset > 0, offset < text.count else { return true }
      switch grain {
      case .lines: return text[offset - 1] == 0x0A
      case .words: return WordKind(text[offset - 1]) != WordKind(text[offset]) || WordKind(text[offset]) == .mark
      case .scalars: return !text[offset].continuesScalar
      }
    }

    /// The matches that a person would recognise: no single letter or space between two rewritten parts.
    private func worthKeeping(
      _ matches: [SequenceDiff.Match], _ oldTokens: TextTokens, _ newTokens: TextTokens, by grain: TextTokens.Grain
    ) -> [SequenceDiff.Match] {
      var kept: [SequenceDiff.Match] = []
      for (index, match) in matches.enumerated() {
        let before = kept.last.map { ($0.old + $0.count, $0.new + $0.count) } ?? (0, 0)
        let after = index + 1 < matches.count ? (matches[index + 1].old, matches[index + 1].new) : nil
        let end = after ?? (oldTokens.count, newTokens.count)
        let changed = max(
          oldTokens.bytes(before.0..<match.old).count + newTokens.bytes(before.1..<match.new).count,
          oldTokens.bytes(match.old + match.count..<end.0).count
            + newTokens.bytes(match.new + match.count..<end.1).count)
        let stretch = oldTokens.bytes(match.old..<match.old + match.count)
        if isWorthKeeping(stretch, between: changed, by: grain) { kept.append(match) }
      }
      return kept
    }

    private func isWorthKeeping(_ stretch: Range<Int>, between changed: Int, by grain: TextTokens.Grain) -> Bool {
      if stretch.count >= 16 || old[stretch].contains(0x0A) { return true }
      switch grain {
      case .lines: return true
      case .words: return changed <= 32 || old[stretch].contains { WordKind($0) == .letter }
      case .scalars: return old[stretch].count { !$0.continuesScalar } >= 3
      }
    }

    /// The hunks as a delta. An insertion or deletion that could be in several places is put at a line's start.
    var delta: TextDelta {
      var builder = DeltaBuilder()
      var offset = 0
      for (index, hunk) in hunks.enumerated() {
        let next = index + 1 < hunks.count ? hunks[index + 1].old.lowerBound : old.count
        for hunk in divided(slid(hunk, after: offset, before: next), before: next) {
          builder.retain(hunk.old.lowerBound - offset)
          let place = placeOfNewText(hunk)
          builder.delete(TextPiece(Array(old[hunk.old.lowerBound..<place])))
          builder.insert(TextPiece(Array(new[hunk.new])))
          builder.delete(TextPiece(Array(old[place..<hunk.old.upperBound])))
          offset = hunk.old.upperBound
        }
      }
      return builder.delta
    }

    /// The offset in the old text at which a hunk's new text is put.
    ///
    /// Another person may have written a line directly before or after the old text. If the hunk begins a line, new
    /// text before all deleted text could come before that person's line, and end up on it; if the hunk ends a line,
    /// new text after all deleted text could come after that line. Between two deleted letters it does neither.
    private func placeOfNewText(_ hunk: Hunk) -> Int {
      guard placement == .withinLines, !hunk.new.isEmpty, !hunk.old.isEmpty, startsLine(hunk.old.lowerBound) else {
        return hunk.old.lowerBound
      }
      let lastLine = old[hunk.old].lastIndex(of: 0x0A).map { $0 + 1 } ?? hunk.old.lowerBound
      guard endsLine(hunk.old.upperBound), lastLine < hunk.old.upperBound else { return hunk.old.upperBound }
      var place = lastLine + 1
      while place < hunk.old.upperBound, old[place].continuesScalar { place += 1 }
      return place
    }

    private func startsLine(_ offset: Int) -> Bool { offset == 0 || old[offset - 1] == 0x0A }

    private func endsLine(_ offset: Int) -> Bool { offset == old.count || old[offset] == 0x0A }

    /// Divides a hunk that turns the end of a line and whole lines after it into the end of one line: the second hunk
    /// deletes whole lines, so that what another person wrote between them stays a line.
    private func divided(_ hunk: Hunk, before next: Int) -> [Hunk] {
      guard placement == .withinLines, !hunk.new.isEmpty, !new[hunk.new].contains(0x0A), hunk.old.upperBound < next,
        old[hunk.old.upperBound] == 0x0A, let lineEnd = old[hunk.old].firstIndex(of: 0x0A)
      else { return [hunk] }
      let end = hunk.new.upperBound + 1
      return [
        Hunk(old: hunk.old.lowerBound..<lineEnd, new: hunk.new),
        Hunk(old: lineEnd + 1..<hunk.old.upperBound + 1, new: end..<end),
      ]
    }

    /// How far a hunk may be moved to begin at a line's start.
    private static let maximumSlide = 512

    private func slid(_ hunk: Hunk, after start: Int, before end: Int) -> Hunk {
      guard hunk.old.isEmpty != hunk.new.isEmpty else { return hunk }
      let text = hunk.old.isEmpty ? new : old
      let range = hunk.old.isEmpty ? hunk.new : hunk.old
      func startsLine(_ index: Int) -> Bool { index == 0 || text[index - 1] == 0x0A }
      if startsLine(range.lowerBound) || text[range.upperBound - 1] != 0x0A && !text[range].contains(0x0A) {
        return hunk
      }
      let room = min(hunk.old.lowerBound - start, Self.maximumSlide)
      var steps = 0
      while steps < room, text[range.lowerBound - 1 - steps] == text[range.upperBound - 1 - steps] {
        steps += 1
        guard startsLine(range.lowerBound - steps), !text[range.lowerBound - steps].continuesScalar else { continue }
        return Hunk(
          old: hunk.old.lowerBound - steps..<hunk.old.upperBound - steps,
          new: hunk.new.lowerBound - steps..<hunk.new.upperBound - steps)
      }
      return hunk
    }
  }
}
