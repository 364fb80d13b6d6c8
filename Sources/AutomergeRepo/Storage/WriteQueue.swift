import Automerge

/// What waits to be written of one document.
struct WriteQueue {
  /// What has been written, or waits here, of the document's history.
  var mark = HistoryMark()
  private var chunks: [StoredItem] = []
  /// How many of the chunks are being written.
  private var writingCount = 0
  /// What the program wants committed with the next write.
  private var additions: [StorageChange] = []

  mutating func append(_ chunk: StoredItem) { chunks.append(chunk) }

  mutating func append(_ changes: [StorageChange]) { additions += changes }

  /// Replaces all chunks that are not being written with this one.
  mutating func replace(with chunk: StoredItem) { chunks = chunks.prefix(writingCount) + [chunk] }

  /// Starts writing all of it.
  mutating func begin() -> (chunks: [StoredItem], additions: [StorageChange]) {
    writingCount = chunks.count
    defer { additions = [] }
    return (chunks, additions)
  }

  /// Call when the write has ended. After a failure its chunks are written again, but not its additions, because their
  /// callers have been told of the failure.
  mutating func end(isWritten: Bool) {
    if isWritten { chunks.removeFirst(writingCount) } else { additions = [] }
    writingCount = 0
  }
}
