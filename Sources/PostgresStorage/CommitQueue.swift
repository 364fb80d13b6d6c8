import AutomergeRepo

/// The commits that wait, oldest first. Decides which of them become one transaction.
struct CommitQueue {
  struct Commit {
    var steps: [WriteStep]
    var submitted: Duration
    var attemptCount = 0
    let done: @AutomergeRepo (StorageError?) -> Void

    var byteCount: Int { steps.reduce(0) { $0 + $1.byteCount } }
  }

  /// The most commits: as many as documents may be open. They would take more memory than the last moments of typing in
  /// all of these.
  static let maximumCount = 1 << 14
  static let maximumByteCount = 256 << 20
  /// The limit of one transaction. Each step may take a lock, and all processes share some thousands of locks.
  static let maximumBatchSteps = 512
  static let maximumBatchByteCount = 4 << 20
  /// After this many failures that others caused, a commit fails.
  static let maximumAttempts = 8

  private(set) var waiting: [Commit] = []
  private var byteCount = 0
  /// How many of the first commits are made separately, because together they failed.
  private var aloneCount = 0

  var isEmpty: Bool { waiting.isEmpty }

  /// False if there is no room.
  mutating func append(_ commit: Commit) -> Bool {
    guard waiting.count < Self.maximumCount, byteCount + commit.byteCount <= Self.maximumByteCount || waiting.isEmpty
    else { return false }
    waiting.append(commit)
    byteCount += commit.byteCount
    return true
  }

  /// Removes and returns the oldest commits, at least one unless the queue is empty.
  mutating func takeBatch() -> [Commit] {
    var (count, steps, bytes) = (0, 0, 0)
    for commit in waiting {
      (steps, bytes) = (steps + commit.steps.count, bytes + commit.byteCount)
      if count > 0, aloneCount > 0 || steps > Self.maximumBatchSteps || bytes > Self.maximumBatchByteCount { break }
      count += 1
    }
    let batch = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    aloneCount = max(0, aloneCount - count)
    byteCount -= batch.reduce(0) { $0 + $1.byteCount }
    return batch
  }

  /// Puts commits that were not made before all others, to be made together or separately.
  mutating func putBack(_ commits: [Commit], alone: Bool) {
    waiting = commits + waiting
    if alone || aloneCount > 0 { aloneCount += commits.count }
    byteCount += commits.reduce(0) { $0 + $1.byteCount }
  }

  /// Removes and returns the commits for which a condition holds.
  mutating func take(where condition: (Commit) -> Bool) -> [Commit] {
    let taken = waiting.filter(condition)
    guard !taken.isEmpty else { return [] }
    waiting.removeAll(where: condition)
    aloneCount = min(aloneCount, waiting.count)
    byteCount -= taken.reduce(0) { $0 + $1.byteCount }
    return taken
  }
}
