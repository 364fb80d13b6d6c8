import AutomergeRepo

/// The text that an editor wrote to the working file while no service was running.
///
///     what the client had ──typed──► what it saved ──typed──► what it has now
///
/// Its words are in the file and in the buffer. Merged from both, they would stand twice.
enum SavedMeanwhile {
  /// The note has the file's text already: the buffer grew out of that.
  case isTakenIn(TextBase)
  /// The note lacks it. The delta leads from the file's text to the buffer's.
  case isNews(TextDelta)
}

extension ThreeWayMerge {
  /// Whether the client's text has grown out of its base by way of another text, the file's: the changes from the one to the other
  /// and on from there add up to those that lead straight to the client's text. Returns the delta from the other text, or nil.
  @concurrent
  func grewOffLoop(into text: [UInt8], through other: [UInt8]) async -> TextDelta? { grew(into: text, through: other) }

  /// The first of the bases through whose text the client's has grown; nil if there is none.
  @concurrent
  func grewOffLoop(into text: [UInt8], throughOneOf bases: [TextBase]) async -> TextBase? {
    guard text.count <= Self.maximumSearchedBytes else { return nil }
    return bases.first { base in self.text(of: base).flatMap { grew(into: text, through: $0) } != nil }
  }

  private func grew(into text: [UInt8], through other: [UInt8]) -> TextDelta? {
    guard text.count <= Self.maximumSearchedBytes, let start = start(of: text) else { return nil }
    let before = TextDiff.delta(from: start, to: other)
    guard !before.isIdentity else { return nil }
    let after = TextDiff.delta(from: other, to: text)
    let whole = TextDiff.delta(from: start, to: text)
    return before.changedBytes + after.changedBytes == whole.changedBytes ? after : nil
  }
}
