import AutomergeRepo

/// Finds the documents of buffers that are being opened, and does not give up while they can still arrive.
///
///     looking ──not here, and no connected peer has it──► waiting ──a peer connects, the document arrives, or 10 s pass──► looking
///
/// A document that was deleted here cannot arrive: that ends the search.
@AutomergeRepo
final class AwaitedNotes {
  /// What a search waits for.
  enum Source: Hashable {
    case peer
    /// The store, which cannot be read at present.
    case store
    /// The store, which is being read: a large note takes its time.
    case reading
  }

  /// How long a search may take before the person is told of it.
  static let patience: Duration = .seconds(1)
  /// How long the link to the host of a document that was just joined may take to come back.
  static let returnTime: Duration = .seconds(10)
  /// The pause after a failed search before the next one, if nothing happens.
  static let retryInterval: Duration = .seconds(10)

  private let repo: Repo
  private let clock: any RepoClock
  private let siblings: Siblings
  private var waiting: [Int: (id: DocumentId, reply: OneReply<Void>)] = [:]
  private var waitCount = 0
  /// How many peers have connected: each may have the document that a search did not find.
  private var peerCount = 0
  private var hasEnded = false

  init(repo: Repo, clock: any RepoClock, _ siblings: Siblings) {
    (self.repo, self.clock, self.siblings) = (repo, clock, siblings)
    repo.observe { [weak self] event in
      switch event {
      case .peerConnected, .siblingConnected:
        self?.peerCount += 1
        self?.lookAgain { _ in true }
      case .documentOpened(let handle): self?.lookAgain { $0 == handle.id }
      case .peerDisconnected, .siblingDisconnected, .documentDeleted, .documentReleased: break
      }
    }
  }

  /// Returns the document when it is here.
  ///
  /// - Parameters:
  ///   - isWanted: called after each failed search; if it returns false, the search ends with an error
  ///   - tell: called with what the search waits for, once it takes noticeably long, and whenever that changes
  func find(
    _ id: DocumentId, while isWanted: @AutomergeRepo () -> Bool,
    tell: @escaping @AutomergeRepo (Source) -> Void
  ) async throws(NotesError) -> DocHandle {
    var told: Source?
    let say: @AutomergeRepo (Source) -> Void = { source in
      guard told != source else { return }
      told = source
      tell(source)
    }
    var timer: (any ScheduledAction)?
    func sayLater() {
      timer = clock.schedule(after: Self.patience) { [repo] in
        if repo.entries.isReading(id) {
          say(.reading)
          sayLater()
        } else if told == nil || told == .reading {
          say(.peer)
        }
      }
    }
    sayLater()
    defer { timer?.cancel() }
    while true {
      let peers = peerCount
      let outcome = await siblings.find(id)
      switch outcome {
      case .found(let handle): return handle
      case .deleted: throw NotesError(outcome, id)
      case .failed: say(.store)
      case .unavailable, .timedOut, .stopped: say(.peer)
      }
      guard !hasEnded, isWanted() else { throw NotesError(outcome, id) }
      if peers == peerCount, repo.handle(of: id) == nil { await nextChance(of: id) }
      guard !hasEnded, isWanted() else { throw NotesError(outcome, id) }
    }
  }

  /// Returns a document that its host has granted a moment ago. If the link to the host ends meanwhile, the search
  /// continues on the next one.
  func arrival(of id: DocumentId, from host: PeerId) async throws(NotesError) -> DocHandle {
    let end = clock.now + Self.returnTime
    var peers = peerCount
    return try await find(
      id,
      while: {
        defer { peers = peerCount }
        return clock.now < end && (repo.peers[host] == nil || peers != peerCount)
      }, tell: { _ in })
  }

  /// Call when the process ends: stops waiting for notes that have not arrived.
  func end() {
    hasEnded = true
    lookAgain { _ in true }
  }

  private func lookAgain(for isMeant: (DocumentId) -> Bool) {
    for (number, wait) in waiting where isMeant(wait.id) {
      waiting[number] = nil
      wait.reply.resume(returning: ())
    }
  }

  private func nextChance(of id: DocumentId) async {
    waitCount += 1
    let number = waitCount
    let timer = clock.schedule(after: Self.retryInterval) { [weak self] in
      self?.waiting.removeValue(forKey: number)?.reply.resume(returning: ())
    }
    await OneReply<Void>.wait(otherwise: ()) { reply in waiting[number] = (id, reply) }
    timer.cancel()
  }
}

extension NotesError {
  /// Why a document was not found.
  init(_ outcome: FindOutcome, _ id: DocumentId) {
    switch outcome {
    case .found, .unavailable, .stopped:
      self.init(.notFound, "The note \(id) is not here, and no connected peer has it.")
    case .timedOut: self.init(.timedOut, "No peer answered for the note \(id).")
    case .deleted: self.init(.notFound, "The note \(id) was deleted.")
    case .failed(let problem): self.init(.storeUnavailable, "The store cannot be read: \(problem).")
    }
  }
}
