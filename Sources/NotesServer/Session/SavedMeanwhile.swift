import AutomergeRepo

/// The text that an editor wrote to the working file while no service was running.
///
///     what the client had ──typed──► what it saved ──typed──► what it has now
///
/// Its words are in the file and in the buffer. Merged from both, they would appear twice.
enum SavedMeanwhile {
  /// The note has the file's text already, and the buffer grew out of that.
  case isTakenIn(TextBase)
  /// The note lacks it. The delta leads from the file's text to the buffer's.
  case isNews(TextDelta)
}

extension ThreeWayMerge {
  /// Whether the client's text has grown out of its base through another text, the file's: the changes from one to the
  /// other and from there to the client's text add up to the direct changes. Returns the delta from the other text, or
  /// nil.
  @concurrent
  func grewOffLoop(into text: [UInt8], through other: [UInt8]) async -> TextDelta? { grew(into: text, through: other) }

  /// The first of the bases through whose text the client's text has grown by words; nil if there is none. If only
  /// words were removed on the way, nothing can appear twice.
  ///
  /// What the file contained before the client had its base does not count: a person who deletes everything typed since
  /// then has that text again, but has saved nothing.
  @concurrent
  func grewOffLoop(into text: [UInt8], throughOneOf bases: [TextBase]) async -> TextBase? {
    guard text.count <= Self.maximumSearchedBytes else { return nil }
    return bases.first { base in
      !isEarlier(base) && self.text(of: base).flatMap { grew(into: text, through: $0, byWords: true) } != nil
    }
  }

  /// Whether a base is no newer than the text that the client certainly had.
  private func isEarlier(_ base: TextBase) -> Bool {
    guard bases.count == 1, !isFile, !isDoubtful, let known = bases.first?.heads,
      note.document.unknown(known.union(base.heads)).isEmpty
    else { return false }
    let later = Set(note.document.changes(since: known).map(\.hash))
    return base.heads.isDisjoint(with: later)
  }

  private func grew(into text: [UInt8], through other: [UInt8], byWords: Bool = false) -> TextDelta? {
    guard text.count <= Self.maximumSearchedBytes, let start = start(of: text) else { return nil }
    let before = TextDiff.delta(from: start, to: other, placement: .beforeDeleted)
    guard byWords ? before.changedBytes > before.deletedBytes : !before.isIdentity else { return nil }
    let after = TextDiff.delta(from: other, to: text, placement: .beforeDeleted)
    let whole = TextDiff.delta(from: start, to: text, placement: .beforeDeleted)
    guard before.changedBytes + after.changedBytes == whole.changedBytes else { return nil }
    return TextDiff.delta(from: other, to: text)
  }
}
