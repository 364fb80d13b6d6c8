import AutomergeRepo

/// How far a process has read the rows that others have stored.
///
/// Rows do not become visible in the order of their numbers: a transaction that began earlier may be committed later.
/// So each row has the number of its transaction, and the database reports below which number no transaction is running
/// any more. Rows up to there need not be read again, except for a while: a row's document may have been loading at
/// that moment, from what was stored a moment earlier.
struct NewsCursor {
  /// How many consecutive polls read the same rows: longer than loading a document takes.
  static let repetitions = 8

  /// The marks of the last polls, the oldest first.
  private var marks: [UInt64] = []
  /// The rows still read again whose chunks were taken in, and those among them that the present poll has met.
  private var taken: Set<StorageKey> = []
  private var met: Set<StorageKey> = []

  /// The transaction to read from; nil to read only the mark.
  var start: UInt64? { marks.first }

  /// Returns the chunks that have not been taken in yet, of some rows of a poll.
  mutating func receive(_ chunks: [StorageKey]) -> [StorageKey] {
    met.formUnion(taken.intersection(chunks))
    return chunks.filter { !taken.contains($0) }
  }

  /// Call when the chunk's document contains it.
  mutating func took(_ chunk: StorageKey) {
    taken.insert(chunk)
    met.insert(chunk)
  }

  /// Call when all rows have been read.
  ///
  /// - Parameter settled: no transaction with a lower number was running when the poll began
  mutating func finish(settled: UInt64) {
    marks.append(settled)
    if marks.count > Self.repetitions { marks.removeFirst() }
    (taken, met) = (met, [])
  }

  /// Call when the poll was interrupted. The next one starts where this one did.
  mutating func breakOff() { met = [] }
}
