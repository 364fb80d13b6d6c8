import AutomergeRepo

/// The commits that wait, oldest first, and which of them become one transaction.
struct CommitQueue {
  struct Commit {
    var steps: [WriteStep]
    var submitted: Duration
    var attemptCount = 0
    let done: @AutomergeRepo (StorageError?) -> Void

    var byteCount: Int { steps.reduce(0) { $0 + $1.byteCount } }
  }

  /// As many as there are documents open, and more memory than all their last moments of typing.
  static let maximumCount = 1 << 14
  static let maximumByteCount = 256 << 20
  /// The limit for one transaction. Each step may take a lock, and all processes share some thousands.
  static let maximumBatchSteps = 512
  static let maximumBatchByteCount = 4 << 20
  /// After so many failures because of others a commit is given back.
  static let maximumAttempts = 8

  private(set) var waiting: [Commit] = []
  private var byteCount = 0
  /// How many of the first are made each on its own, as together they have failed.
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

  /// Puts commits that were not made before all others, to be made together or each on its own.
  mutating func putBack(_ commits: [Commit], alone: Bool) {
    waiting = commits + waiting
    if alone || aloneCount > 0 { aloneCount += commits.count }
    byteCount += commits.reduce(0) { $0 + $1.byteCount }
  }

  /// Takes the commits for which a condition holds.
  mutating func take(where condition: (Commit) -> Bool) -> [Commit] {
    let taken = waiting.filter(condition)
    guard !taken.isEmpty else { return [] }
    waiting.removeAll(where: condition)
    aloneCount = min(aloneCount, waiting.count)
    byteCount -= taken.reduce(0) { $0 + $1.byteCount }
    return taken
  }
}
