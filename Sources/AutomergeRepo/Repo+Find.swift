import Automerge
import Foundation

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

/// The place of one document in a repo, from the first request for it.
///
///     loading ──in the store──────────────► ready
///        └──not there──► searching ──found──┘
@AutomergeRepo
final class Slot {
  /// Messages that wait for the document to be loaded.
  static let queueLimit = 256

  let id: DocumentId
  /// Nil while loading.
  var handle: DocHandle?
  private var queued: [(message: DocumentSync.Payload, peer: PeerId)] = []
  private var waiters: [Waiter] = []

  private final class Waiter {
    let reply: OneReply<FindOutcome>
    var timer: (any ScheduledAction)?
    init(_ reply: OneReply<FindOutcome>) { self.reply = reply }
  }

  init(id: DocumentId) { self.id = id }

  var isReady: Bool { handle?.sync.phase == .ready }
  /// Whether the slot alone holds the handle.
  var isOnlyOwner: Bool { isKnownUniquelyReferenced(&handle) }
  var isAwaited: Bool { !waiters.isEmpty || handle?.sync.awaitingPeers.isEmpty == false }

  func queue(_ message: DocumentSync.Payload, from peer: PeerId) {
    if queued.count < Slot.queueLimit { queued.append((message, peer)) }
  }

  func takeQueue() -> [(message: DocumentSync.Payload, peer: PeerId)] {
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

extension Repo {
  /// The time limit of a search that a peer's request has started.
  static let longestSearch: Duration = .seconds(30)

  /// Looks for a document in memory, in the store, and with the peers to which the policy would announce it.
  public func find(_ id: DocumentId, within limit: Duration = .seconds(10)) async -> FindOutcome {
    await OneReply.wait(otherwise: .timedOut) { reply in
      if let handle = handle(of: id) { return reply.resume(returning: .found(handle)) }
      let isNew = slots[id] == nil
      let slot = slot(for: id)
      slot.wait(reply, for: limit, clock: clock) { [weak self, weak slot] in
        guard let self, let slot, slot.handle != nil, !slot.isReady, !slot.isAwaited else { return }
        self.discard(slot)
      }
      if isNew { load(slot) }
    }
  }

  /// The slot of `id`; a new one begins to load.
  func slot(for id: DocumentId) -> Slot {
    if let slot = slots[id] { return slot }
    let slot = Slot(id: id)
    slots[id] = slot
    return slot
  }

  func load(_ slot: Slot) {
    Task {
      let outcome = await self.read(slot.id)
      // It may have been deleted or recreated meanwhile.
      guard self.slots[slot.id] === slot, slot.handle == nil else { return }
      self.loaded(slot, outcome)
    }
  }

  private enum ReadOutcome {
    case stored(StoredChunks)
    case deleted
    case failed(StorageError)
  }

  private func read(_ id: DocumentId) async -> ReadOutcome {
    guard let storage else { return .stored(StoredChunks()) }
    do throws(StorageError) {
      if try await storage.load(Repo.tombstone(of: id)) != nil { return .deleted }
      var chunks = try await StoredChunks.load(id, from: storage)
      chunks.signatures = try await storage.loadRange(StoredSignatures.prefix(id))
      return .stored(chunks)
    } catch {
      return .failed(error)
    }
  }

  private func loaded(_ slot: Slot, _ outcome: ReadOutcome) {
    switch outcome {
    case .stored(let chunks):
      if !chunks.damaged.isEmpty {
        logger.warning("\(slot.id): \(chunks.damaged.count) chunks in the store are damaged and were left out")
      }
      open(slot, chunks)
    case .deleted:
      close(slot, with: .deleted)
    case .failed(let error):
      logger.error("\(slot.id) could not be read from the store: \(error)")
      close(slot, with: .failed(error))
    }
  }

  /// Ends a slot that never had a document. Peers and callers that asked for it get the same answer as for an unknown document.
  private func close(_ slot: Slot, with outcome: FindOutcome) {
    slots[slot.id] = nil
    for (_, peer) in slot.takeQueue() { send(.unavailable, on: slot.id, to: peer) }
    slot.end(with: outcome)
  }

  private func open(_ slot: Slot, _ chunks: StoredChunks) {
    let isReady = chunks.document.map { !$0.heads().isEmpty } ?? false
    let document = chunks.document ?? Document()
    let handle = DocHandle(id: slot.id, document: document, phase: isReady ? .ready : .searching, repo: self)
    handle.discarded = chunks.discarded
    handle.signatures.load(chunks.signatures)
    slot.handle = handle
    attachStore(to: handle, loaded: chunks)
    let queue = slot.takeQueue()
    if isReady { announce(handle) }
    if isReady, storage != nil { rememberHeads(of: handle) }
    for (message, peer) in queue where connections[peer] != nil {
      let access = access(slot.id, for: peer)
      if access == .none {
        send(.unavailable, on: slot.id, to: peer)
      } else {
        handle.receive(.received(message, from: peer, access: access))
      }
    }
    if !isReady { search(slot, handle) }
  }

  /// Asks the peers that have not spoken of the document, unless one has begun to send it.
  private func search(_ slot: Slot, _ handle: DocHandle) {
    clock.schedule(after: Repo.longestSearch) { [weak self, weak slot] in
      guard let self, let slot, !slot.isReady, self.slots[slot.id] === slot else { return }
      self.notFound(handle)
    }
    let linked = handle.sync.linkedPeers
    if !handle.sync.isBeingSent {
      for peer in connections.keys.sorted() where !linked.contains(peer) { introduce(peer, to: handle) }
    }
    handle.receive(.asked)
  }

  /// Announces the document to the peers that the policy allows.
  func announce(_ handle: DocHandle) {
    observers.send(.documentOpened(handle))
    slots[handle.id]?.end(with: .found(handle))
    for peer in connections.keys.sorted() { introduce(peer, to: handle) }
  }

  // MARK: Ends of a search

  func found(_ handle: DocHandle) {
    handle.store?.changed()
    observers.send(.documentOpened(handle))
    slots[handle.id]?.end(with: .found(handle))
    let linked = handle.sync.linkedPeers
    for peer in connections.keys.sorted() where !linked.contains(peer) { introduce(peer, to: handle) }
  }

  func notFound(_ handle: DocHandle) {
    guard let slot = slots[handle.id], slot.handle === handle else { return }
    discard(slot)
    slot.end(with: .unavailable)
  }

  private func discard(_ slot: Slot) {
    for peer in slot.handle?.sync.engagedPeers ?? [] { send(.unavailable, on: slot.id, to: peer) }
    slot.handle?.detach()
    slots[slot.id] = nil
  }
}
