import AutomergeRepo

/// How far a process has read the rows that others have stored.
///
/// Rows do not become visible in the order of their numbers: a transaction that was begun earlier may be committed later. So each
/// row has the number of its transaction, and the database says below which number no transaction is under way any more.
/// Only up to there it has been read for good. For a while even rows below that are read again: the document of one may just
/// have been being loaded, from what was stored a moment earlier.
struct NewsCursor {
  /// How many looks in a row read the same rows: longer than loading a document takes.
  static let repetitions = 8

  /// The last looks' marks, the oldest first.
  private var marks: [UInt64] = []
  /// What was taken in of the rows that are still read again; of those, what the look under way has met.
  private var taken: Set<StorageKey> = []
  private var met: Set<StorageKey> = []

  /// From which transaction on to read; nil for none at all, only for the mark.
  var start: UInt64? { marks.first }

  /// Of some rows of a look, returns the chunks that have not been taken in yet.
  mutating func receive(_ chunks: [StorageKey]) -> [StorageKey] {
    met.formUnion(taken.intersection(chunks))
    return chunks.filter { !taken.contains($0) }
  }

  /// Notes that the chunk's document contains it.
  mutating func took(_ chunk: StorageKey) {
    taken.insert(chunk)
    met.insert(chunk)
  }

  /// All rows have been read.
  ///
  /// - Parameter settled: no transaction with a lower number was under way when the reading began.
  mutating func finish(settled: UInt64) {
    marks.append(settled)
    if marks.count > Self.repetitions { marks.removeFirst() }
    (taken, met) = (met, [])
  }

  /// The poll was interrupted; the next one starts where this one did.
  mutating func breakOff() { met = [] }
}
