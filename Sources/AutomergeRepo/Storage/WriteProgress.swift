import Automerge

/// How much of a document is stored, and the callers that wait for more.
@AutomergeRepo
final class WriteProgress {
  /// How many times the document and its companions have changed.
  struct Generation: Equatable {
    var document = 0
    var companions = 0

    func covers(_ other: Generation) -> Bool { document >= other.document && companions >= other.companions }
  }

  private(set) var current = Generation()
  private var stored = Generation()
  /// The heads that are certainly stored.
  private(set) var storedHeads: Set<ChangeHash>
  /// Why the last attempt to store failed; nil after a success.
  var problem: StorageError?
  /// Since when the store has lacked something of the document; nil if it has everything.
  private(set) var unstoredSince: Duration?
  private var waiters: [(generation: Generation, continuation: CheckedContinuation<StorageError?, Never>)] = []

  init(storedHeads: Set<ChangeHash>) { self.storedHeads = storedHeads }

  /// Whether the document is stored; its companions may not be.
  var isDocumentStored: Bool { stored.document == current.document }

  var isAllStored: Bool { stored == current }

  var hasWaiters: Bool { !waiters.isEmpty }

  func documentChanged(at now: Duration) {
    current.document += 1
    unstoredSince = unstoredSince ?? now
  }

  func companionsChanged() { current.companions += 1 }

  /// Resumes when what there is now is stored.
  func wait(_ continuation: CheckedContinuation<StorageError?, Never>) { waiters.append((current, continuation)) }

  /// Call when a write that began at this time has ended. Call `resume` afterwards.
  func wrote(_ generation: Generation, begunAt start: Duration, error: StorageError?) {
    problem = error
    guard error == nil else { return }
    stored = generation
    // Everything that is not stored yet has changed since the write began.
    unstoredSince = isDocumentStored ? nil : start
  }

  /// Call when a write with these heads has succeeded.
  func stored(_ heads: Set<ChangeHash>) { storedHeads = heads }

  /// Resumes the callers whose wait is over; all of them after a failure, or when writing ends.
  func resume(all: Bool) {
    let done = waiters.filter { all || stored.covers($0.generation) }
    waiters.removeAll { all || stored.covers($0.generation) }
    for waiter in done { waiter.continuation.resume(returning: problem) }
  }
}
