/// The outcome of looking for a document.
public enum FindOutcome: Sendable {
  case found(DocHandle)
  /// It is not here, and no peer that we may ask has it.
  case unavailable
  /// It was deleted here.
  case deleted
  /// A peer was asked and has not answered; the answer may still come.
  case timedOut
  /// The store could not be read, so it is not known.
  case failed(StorageError)
}

/// A document's entry in its repo, from the first request for it.
///
///     loading ──in the store──────────────► ready
///        └──not there──► searching ──found──┘
@AutomergeRepo
final class DocumentEntry {
  /// At most this many messages wait for the document to be loaded.
  static let maximumQueued = 256

  let id: DocumentId
  /// Nil while loading.
  var handle: DocHandle?
  private var queued: [(content: RepoMessage.Content, peer: PeerId)] = []
  private var waiters: [Waiter] = []

  private final class Waiter {
    let reply: OneReply<FindOutcome>
    var timer: (any ScheduledAction)?
    init(_ reply: OneReply<FindOutcome>) { self.reply = reply }
  }

  init(id: DocumentId) { self.id = id }

  var isReady: Bool { handle?.sync.phase == .ready }
  /// Whether the entry alone holds the handle.
  var isOnlyOwner: Bool { isKnownUniquelyReferenced(&handle) }
  var isAwaited: Bool { !waiters.isEmpty || handle?.sync.awaitingPeers.isEmpty == false }

  func queue(_ content: RepoMessage.Content, from peer: PeerId) {
    if queued.count < Self.maximumQueued { queued.append((content, peer)) }
  }

  func takeQueue() -> [(content: RepoMessage.Content, peer: PeerId)] {
    defer { queued = [] }
    return queued
  }

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
      // No peer was asked yet: the store is slow, and will report the outcome itself.
      guard self.handle != nil else { return self.start(waiter, for: limit, clock: clock, timedOut: timedOut) }
      self.waiters.remove(at: index)
      waiter.reply.resume(returning: .timedOut)
      timedOut()
    }
  }

  func end(with outcome: FindOutcome) {
    let all = waiters
    waiters = []
    for waiter in all {
      waiter.timer?.cancel()
      waiter.reply.resume(returning: outcome)
    }
  }
}
