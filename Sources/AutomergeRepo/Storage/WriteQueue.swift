/// What waits to be written of one document.
struct WriteQueue {
  private var chunks: [StoredItem] = []
  /// How many of the chunks are being written.
  private var writingCount = 0
  /// What the program wants committed with the next write.
  private var additions: [StorageChange] = []

  mutating func append(_ chunk: StoredItem) { chunks.append(chunk) }

  mutating func append(_ changes: [StorageChange]) { additions += changes }

  /// Puts a chunk in the place of all that is not being written.
  mutating func replace(with chunk: StoredItem) { chunks = chunks.prefix(writingCount) + [chunk] }

  /// Begins to write all of it.
  mutating func begin() -> (chunks: [StoredItem], additions: [StorageChange]) {
    writingCount = chunks.count
    defer { additions = [] }
    return (chunks, additions)
  }

  /// The write has ended. After a failure its chunks are written again; additions since then are not, as their callers are
  /// told of the failure.
  mutating func end(isWritten: Bool) {
    if isWritten { chunks.removeFirst(writingCount) } else { additions = [] }
    writingCount = 0
  }
}
