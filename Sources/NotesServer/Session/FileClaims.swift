/// Texts that the editor claims to have written or read, and that have not been seen in the file yet.
struct FileClaims {
  var all: [Claim] = []
  /// The last text from which the written one certainly derives, if the editor's changes have contradicted one
  /// another since: the text before these changes, or the last one that the editor wrote.
  var origin: TextBase?
  var writtenOutOfStep: TextBase?
  /// The count of claims when the file was last read: later ones may be about what it holds since.
  var readCount = 0
  /// Whether some claims were not true yet at the last look.
  var hasWaited = false
  /// Whether the store has what the editor has written last.
  var isWrittenStored = false
  /// The text of a file that may be unfinished, without its news: words of it that the person deletes until the news are merged are none
  /// of them.
  var shared: TextBase?
  /// The texts that the editor found in the file and was about to overwrite, until they are merged. The file no longer has
  /// them.
  var overwritten: [Overwritten] = []
  /// The last of these that was merged, by its digest: the file may have it still.
  var merged: (digest: [UInt8], base: TextBase)?

  /// The texts that the editor has written, latest first.
  var written: [TextBase] { all.reversed().filter(\.isWritten).map(\.base) }
  var bases: [TextBase] { all.reversed().map(\.base) }

  struct Claim {
    var base: TextBase
    /// Whether the editor has written it, rather than opened a buffer with it.
    var isWritten: Bool
  }

  /// A text that the editor found in the file before it wrote to it.
  struct Overwritten {
    let text: OverwrittenText
    /// What the file was known to hold then; nil if that was not read yet.
    var base: TextBase?
    /// What it may have held instead, if the service was just finding that out: what an editor claimed to have written.
    var possible: [TextBase]
  }

  /// The document is about to go back to an earlier state.
  mutating func rebase(_ rebased: (TextBase) -> TextBase) {
    for index in all.indices { all[index].base = rebased(all[index].base) }
    (merged, shared) = (nil, shared.map(rebased))
    for index in overwritten.indices {
      overwritten[index].base = overwritten[index].base.map(rebased)
      overwritten[index].possible = overwritten[index].possible.map(rebased)
    }
    (origin, writtenOutOfStep) = (origin.map(rebased), writtenOutOfStep.map(rebased))
  }
}
