/// A document's entry in its repo, from the first request for it.
///
///     loading ──in the store──────────────► ready
///        └──not there──► searching ──found──┘
@AutomergeRepo
final class DocumentEntry {
  let id: DocumentId
  /// Nil while loading.
  var handle: DocHandle?
  /// Whether the store is removing the document: the entry ends with that.
  let isBeingDeleted: Bool
  /// Whether the program is adding the document: a search that the store cannot answer waits for that.
  var isBeingMade = false
  /// The messages that came before the document.
  var queued: QueuedMessages
  private var waiters: [Waiter] = []
  private var watchers: [AsyncStream<FindProgress>.Continuation] = []

  /// A search that waits for the document.
  final class Waiter {
    fileprivate let reply: OneReply<FindOutcome>
    /// Whether the time limit holds for the peers alone, so that the search ends no earlier than the store has answered.
    fileprivate let awaitsStore: Bool
    fileprivate let timedOut: @AutomergeRepo () -> Void
    fileprivate var timer: (any ScheduledAction)?

    init(_ reply: OneReply<FindOutcome>, awaitsStore: Bool, timedOut: @escaping @AutomergeRepo () -> Void) {
      (self.reply, self.awaitsStore, self.timedOut) = (reply, awaitsStore, timedOut)
    }
  }

  init(id: DocumentId) { (self.id, isBeingDeleted, queued) = (id, false, QueuedMessages()) }

  /// The place of a document that is being deleted, with the messages that wait for it.
  init(deleting id: DocumentId, _ former: DocumentEntry?) {
    (self.id, isBeingDeleted) = (id, true)
    queued = former?.takeQueue() ?? QueuedMessages()
  }

  var isReady: Bool { handle?.sync.phase == .ready }
  /// Whether nothing but the entry holds the handle.
  var isOnlyOwner: Bool { isKnownUniquelyReferenced(&handle) }
  var isAwaited: Bool { !waiters.isEmpty || handle?.sync.awaitingPeers.isEmpty == false }

  func takeQueue() -> QueuedMessages { queued.takeAll() }

  func wait(_ waiter: Waiter, for limit: Duration, clock: any RepoClock) {
    waiters.append(waiter)
    start(waiter, for: limit, clock: clock)
  }

  private func start(_ waiter: Waiter, for limit: Duration, clock: any RepoClock) {
    waiter.timer = clock.schedule(after: limit) { [weak self, weak waiter] in
      guard let self, let waiter else { return }
      // The store is slow, so no peer was asked yet. The store will report the outcome itself.
      if waiter.awaitsStore, self.handle == nil { return self.start(waiter, for: limit, clock: clock) }
      self.giveUp(waiter)
    }
  }

  /// Returns when the entry has a document, or ends without one.
  func hasEnded() async {
    _ = await OneReply.wait(otherwise: .stopped) { waiters.append(Waiter($0, awaitsStore: true) {}) }
  }

  /// Ends one search without an outcome. Does nothing if it has ended already.
  func giveUp(_ waiter: Waiter) {
    guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return }
    waiters.remove(at: index)
    waiter.timer?.cancel()
    waiter.reply.resume(returning: .timedOut)
    waiter.timedOut()
  }

  /// Yields the progress of the search from now on.
  func watch(_ continuation: AsyncStream<FindProgress>.Continuation) {
    watchers.append(continuation)
    continuation.yield(progress)
  }

  private var progress: FindProgress {
    guard let handle else { return FindProgress(id: id, sources: [.storage: .asked]) }
    var sources: [FindProgress.Source: FindProgress.Answer] = [.storage: .lacks]
    for link in handle.sync.links { sources[.peer(link.peer)] = link.answer }
    return FindProgress(id: id, sources: sources)
  }

  /// Call when a search has received an answer.
  func tellProgress() {
    guard !watchers.isEmpty else { return }
    let progress = progress
    for watcher in watchers { watcher.yield(progress) }
  }

  func end(with outcome: FindOutcome) {
    watchers = []
    let all = waiters
    waiters = []
    for waiter in all {
      waiter.timer?.cancel()
      waiter.reply.resume(returning: outcome)
    }
  }
}
