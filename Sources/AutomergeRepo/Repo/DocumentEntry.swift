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

  private final class Waiter {
    let reply: OneReply<FindOutcome>
    var timer: (any ScheduledAction)?
    init(_ reply: OneReply<FindOutcome>) { self.reply = reply }
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

  func wait(
    _ reply: OneReply<FindOutcome>, for limit: Duration, clock: any RepoClock,
    timedOut: @escaping @AutomergeRepo () -> Void
  ) {
    let waiter = Waiter(reply)
    waiters.append(waiter)
    start(waiter, for: limit, clock: clock, timedOut: timedOut)
  }

  private func start(
    _ waiter: Waiter, for limit: Duration, clock: any RepoClock, timedOut: @escaping @AutomergeRepo () -> Void
  ) {
    waiter.timer = clock.schedule(after: limit) { [weak self] in
      guard let self, let index = self.waiters.firstIndex(where: { $0 === waiter }) else { return }
      // The store is slow, so no peer was asked yet. The store will report the outcome itself.
      guard self.handle != nil else { return self.start(waiter, for: limit, clock: clock, timedOut: timedOut) }
      self.waiters.remove(at: index)
      waiter.reply.resume(returning: .timedOut)
      timedOut()
    }
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
