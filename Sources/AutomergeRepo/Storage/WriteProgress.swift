import Automerge

/// How much of a document is stored, and the callers that wait for more.
@AutomergeRepo
final class WriteProgress {
  /// How often the document and its companions have changed.
  struct Generation: Equatable {
    var document = 0
    var companions = 0

    func covers(_ other: Generation) -> Bool { document >= other.document && companions >= other.companions }
  }

  private(set) var current = Generation()
  private var stored = Generation()
  /// The heads that are certainly stored.
  private(set) var storedHeads: Set<ChangeHash>
  /// Why the last attempt to store failed; nil since one has succeeded.
  var problem: StorageError?
  /// Since when the store lacks something of the document; nil if it has all.
  private(set) var unstoredSince: Duration?
  private var waiters: [(generation: Generation, continuation: CheckedContinuation<StorageError?, Never>)] = []

  init(storedHeads: Set<ChangeHash>) { self.storedHeads = storedHeads }

  /// Whether the document is stored, if not its companions.
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

  /// A write that began at this time has ended. `resume` follows.
  func wrote(_ generation: Generation, begunAt start: Duration, error: StorageError?) {
    problem = error
    guard error == nil else { return }
    stored = generation
    // What is not stored yet has come since the write began.
    unstoredSince = isDocumentStored ? nil : start
  }

  /// A write with these heads has succeeded.
  func stored(_ heads: Set<ChangeHash>) { storedHeads = heads }

  /// Resumes the callers whose wait is over: after a failure, or when writing ends, all of them.
  func resume(all: Bool) {
    let done = waiters.filter { all || stored.covers($0.generation) }
    waiters.removeAll { all || stored.covers($0.generation) }
    for waiter in done { waiter.continuation.resume(returning: problem) }
  }
}
