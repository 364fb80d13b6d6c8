import Automerge
import Foundation

extension Repo {
  /// The time limit of a search that a peer's request has started.
  static let maximumSearch: Duration = .seconds(30)

  /// Looks for a document in memory, in the store, and with the peers to which the policy would announce it.
  public func find(_ id: DocumentId, within limit: Duration = .seconds(10)) async -> FindOutcome {
    await OneReply.wait(otherwise: .timedOut) { reply in
      if let handle = handle(of: id) { return reply.resume(returning: .found(handle)) }
      let isNew = entries[id] == nil
      let entry = entry(for: id)
      entry.wait(reply, for: limit, clock: clock) { [weak self, weak entry] in
        guard let self, let entry, entry.handle != nil, !entry.isReady, !entry.isAwaited else { return }
        self.discard(entry)
      }
      if isNew { load(entry) }
    }
  }

  /// The entry of `id`; a new one begins to load.
  func entry(for id: DocumentId) -> DocumentEntry {
    if let entry = entries[id] { return entry }
    let entry = DocumentEntry(id: id)
    entries[id] = entry
    return entry
  }

  func load(_ entry: DocumentEntry) {
    Task {
      let outcome = await self.read(entry.id)
      // It may have been deleted or recreated meanwhile.
      guard self.entries[entry.id] === entry, entry.handle == nil else { return }
      self.loaded(entry, outcome)
    }
  }

  enum ReadOutcome {
    case stored(StoredChunks)
    case deleted
    case failed(StorageError)
  }

  func read(_ id: DocumentId) async -> ReadOutcome {
    guard let storage else { return .stored(StoredChunks()) }
    do throws(StorageError) {
      if try await storage.load(Repo.tombstone(of: id)) != nil { return .deleted }
      var chunks = try await StoredChunks.load(id, from: storage)
      chunks.signatures = try await storage.loadRange(StoredSignatures.prefix(id))
      chunks.syncStates = try await storage.loadRange(SyncStates.prefix(id))
      return .stored(chunks)
    } catch {
      return .failed(error)
    }
  }

  func loaded(_ entry: DocumentEntry, _ outcome: ReadOutcome) {
    switch outcome {
    case .stored(let chunks):
      if !chunks.damaged.isEmpty {
        logger.warning("\(entry.id): \(chunks.damaged.count) chunks in the store are damaged and were left out")
      }
      open(entry, chunks)
    case .deleted:
      close(entry, with: .deleted)
    case .failed(let error):
      logger.error("\(entry.id) could not be read from the store: \(error)")
      close(entry, with: .failed(error))
    }
  }

  /// Ends an entry that never had a document. Peers and callers that asked for it get the same answer as for an unknown document.
  func close(_ entry: DocumentEntry, with outcome: FindOutcome) {
    entries[entry.id] = nil
    for (_, peer) in entry.takeQueue() { send(.unavailable, on: entry.id, to: peer) }
    entry.end(with: outcome)
  }

  private func open(_ entry: DocumentEntry, _ chunks: StoredChunks) {
    let isReady = chunks.document.map { !$0.heads().isEmpty } ?? false || chunks.isEmptyDocument
    let document = chunks.document ?? Document()
    let handle = DocHandle(id: entry.id, document: document, phase: isReady ? .ready : .searching, repo: self)
    handle.discarded = chunks.discarded
    handle.signatures.load(chunks.signatures)
    remotes.syncStates.loaded(chunks.syncStates, of: entry.id)
    entry.handle = handle
    attachStore(to: handle, loaded: chunks)
    if isReady {
      announce(handle)
      resume(handle)
    }
    if isReady, storage != nil { catalogues.remember(handle) }
    deliverQueue(of: entry)
    if !isReady { search(entry, handle) }
  }

  /// What peers said of the document before it was here.
  func deliverQueue(of entry: DocumentEntry) {
    for (content, peer) in entry.takeQueue() where connections.isConnected(peer) {
      let access = access(entry.id, for: peer)
      if access == .none {
        send(.unavailable, on: entry.id, to: peer)
      } else {
        if let handle = entry.handle { remotes.syncStates.recall(peer, for: handle) }
        entry.handle?.receive(.received(content, from: peer, access: access))
      }
    }
  }

  /// Asks the peers that have not spoken of the document, unless one has begun to send it.
  private func search(_ entry: DocumentEntry, _ handle: DocHandle) {
    entry.tellProgress()
    // Weak, for a document that was found must not stay in memory because of this.
    clock.schedule(after: Self.maximumSearch) { [weak self, weak entry, weak handle] in
      guard let self, let entry, let handle, !entry.isReady, self.entries[entry.id] === entry else { return }
      self.notFound(handle)
    }
    let linked = handle.sync.linkedPeers
    if !handle.sync.isBeingSent {
      for peer in connections.all where !linked.contains(peer) { introduce(peer, to: handle) }
    }
    handle.receive(.asked)
  }

  /// Announces the document to the peers that the policy allows.
  func announce(_ handle: DocHandle) {
    observers.send(.documentOpened(handle))
    entries[handle.id]?.end(with: .found(handle))
    for peer in connections.all { introduce(peer, to: handle) }
  }

  /// Goes on with the peers that were on the document when it was released, and that the policy does not tell of it.
  private func resume(_ handle: DocHandle) {
    for peer in connections.resume(handle.id) {
      let access = access(handle.id, for: peer)
      if access > .none { handle.receive(.connected(peer, access: access)) }
    }
  }

  // MARK: Ends of a search

  func found(_ handle: DocHandle) {
    handle.store?.changed()
    observers.send(.documentOpened(handle))
    entries[handle.id]?.end(with: .found(handle))
    let linked = handle.sync.linkedPeers
    // Peers that could not create it may write now.
    for peer in linked { handle.receive(.accessChanged(peer, access(handle.id, for: peer))) }
    for peer in connections.all where !linked.contains(peer) { introduce(peer, to: handle) }
  }

  func notFound(_ handle: DocHandle) {
    guard let entry = entries[handle.id], entry.handle === handle else { return }
    discard(entry)
    entry.end(with: .unavailable)
  }

  private func discard(_ entry: DocumentEntry) {
    for peer in entry.handle?.sync.engagedPeers ?? [] { send(.unavailable, on: entry.id, to: peer) }
    entry.handle?.detach()
    entries[entry.id] = nil
  }
}
