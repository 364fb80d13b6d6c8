import Automerge
import Foundation

/// Brings documents into memory: from the store, or from the peers if the store has none.
@AutomergeRepo
struct DocumentLoader {
  /// The time limit of a search that a peer's request has started.
  static let maximumSearch: Duration = .seconds(30)

  enum ReadOutcome {
    case stored(StoredChunks)
    case deleted
    case failed(StorageError)
  }

  let repo: Repo

  // MARK: From the store

  func load(_ entry: DocumentEntry) {
    Task {
      let outcome = await read(entry.id)
      // The document may have been deleted or created again meanwhile, or its maker, who reads the same, is about to.
      guard repo.entries[entry.id] === entry, entry.handle == nil, !entry.isBeingMade else { return }
      loaded(entry, outcome)
    }
  }

  func read(_ id: DocumentId) async -> ReadOutcome {
    guard let storage = repo.storage else { return .stored(StoredChunks()) }
    do throws(StorageError) {
      async let chunks = Result { () async throws(StorageError) in try await StoredChunks.load(id, from: storage) }
      if try await StoredDocuments(storage: storage).isDeleted(id) { return .deleted }
      return .stored(try await chunks.get())
    } catch {
      return .failed(error)
    }
  }

  func loaded(_ entry: DocumentEntry, _ outcome: ReadOutcome) {
    switch outcome {
    case .stored(let chunks):
      if !chunks.damaged.isEmpty {
        repo.logger.warning("\(entry.id): \(chunks.damaged.count) chunks in the store are damaged and were left out")
      }
      open(entry, chunks)
    case .deleted:
      close(entry, with: .deleted)
    case .failed(let error):
      repo.logger.error("\(entry.id) could not be read from the store: \(error)")
      close(entry, with: .failed(error))
    }
  }

  /// Ends an entry that never had a document. Peers and callers that asked for the document get the same answer as for
  /// an unknown one.
  func close(_ entry: DocumentEntry, with outcome: FindOutcome) {
    repo.entries[entry.id] = nil
    let queued = entry.takeQueue()
    for peer in queued.messages.map(\.peer) + queued.missed.sorted() {
      repo.connections.send(.unavailable, on: entry.id, to: peer)
    }
    for (content, peer) in queued.messages {
      repo.connections.release(QueuedMessages.byteCount(of: content), of: peer)
    }
    entry.end(with: outcome)
    resumeReading(from: queued)
  }

  private func open(_ entry: DocumentEntry, _ chunks: StoredChunks) {
    let isReady = chunks.document.map { !$0.heads().isEmpty } ?? false || chunks.isEmptyDocument
    let document = chunks.document ?? Document()
    let handle = DocHandle(id: entry.id, document: document, phase: isReady ? .ready : .searching, repo: repo)
    handle.discarded = chunks.discarded
    handle.signatures.load(chunks.signatures)
    repo.remotes.syncStates.loaded(chunks.syncStates, of: entry.id)
    entry.handle = handle
    repo.upkeep.used(entry.id)
    repo.attachStore(to: handle, loaded: chunks)
    if isReady { announce(handle) }
    if isReady, repo.storage != nil { repo.upkeep.catalogues.remember(handle) }
    deliverQueue(of: entry)
    if !isReady { search(entry, handle) }
  }

  /// Handles the messages about the document that came before it was loaded.
  func deliverQueue(of entry: DocumentEntry) {
    let queued = entry.takeQueue()
    for (content, peer) in queued.messages {
      repo.connections.release(QueuedMessages.byteCount(of: content), of: peer)
      deliver(to: entry, from: peer) { .received(content, from: peer, access: $0) }
    }
    for peer in queued.missed.sorted() {
      deliver(to: entry, from: peer) { .missed(from: peer, access: $0) }
    }
    resumeReading(from: queued)
  }

  private func resumeReading(from queued: QueuedMessages) {
    for peer in queued.peers { repo.connections.hold(0, of: peer) }
  }

  private func deliver(to entry: DocumentEntry, from peer: PeerId, _ event: (Access) -> DocumentSync.Event) {
    guard repo.connections.isConnected(peer) else { return }
    let access = repo.sharing.access(entry.id, for: peer)
    guard access > .none else { return repo.connections.send(.unavailable, on: entry.id, to: peer) }
    guard let handle = entry.handle else { return }
    repo.remotes.syncStates.recall(peer, for: handle)
    handle.receive(event(access))
  }

  /// Announces the document to the peers that the policy allows.
  func announce(_ handle: DocHandle) {
    repo.observers.send(.documentOpened(handle))
    repo.entries[handle.id]?.end(with: .found(handle))
    for peer in repo.connections.all { repo.introduce(peer, to: handle) }
    resume(handle)
  }

  /// Resumes with the peers that the document was released or not taken from, and to which the policy does not announce it.
  private func resume(_ handle: DocHandle) {
    let linked = handle.sync.linkedPeers
    for peer in repo.connections.resume(handle.id) where !linked.contains(peer) {
      let access = repo.sharing.access(handle.id, for: peer)
      if access > .none { repo.connect(peer, to: handle, access: access) }
    }
  }

  /// The handle of a document that the repo has, or is looking for at its peers; nil if there is no such.
  func known(_ id: DocumentId) async -> DocHandle? {
    if let entry = repo.entries[id], entry.handle == nil, !entry.isBeingDeleted {
      let outcome = await read(id)
      if repo.entries[id] === entry, entry.handle == nil { loaded(entry, outcome) }
    }
    return repo.entries[id]?.handle
  }

  // MARK: From peers

  /// Asks the peers that have not said anything about the document, unless one has begun to send it.
  private func search(_ entry: DocumentEntry, _ handle: DocHandle) {
    entry.tellProgress()
    // Weak, because a document that was found must not stay in memory until the time is over.
    repo.clock.schedule(after: Self.maximumSearch) { [weak repo, weak entry, weak handle] in
      guard let repo, let entry, let handle, !entry.isReady, repo.entries[entry.id] === entry else { return }
      repo.loader.notFound(handle)
    }
    let linked = handle.sync.linkedPeers
    if !handle.sync.isBeingSent {
      for peer in repo.connections.all where !linked.contains(peer) { repo.introduce(peer, to: handle) }
      // A peer that offered it in vain may create it now. Only the peer knew of it.
      for peer in repo.connections.holders(of: entry.id) where !handle.sync.linkedPeers.contains(peer) {
        if repo.sharing.access(entry.id, for: peer) == .write { repo.connect(peer, to: handle, access: .write) }
      }
    }
    handle.receive(.asked)
  }

  /// Asks for the documents that peers offered in vain and may create now.
  func takeOffers() {
    for peer in repo.connections.all {
      for id in repo.connections.declined(of: peer)
      where repo.entries[id] == nil && repo.sharing.access(id, for: peer) == .write {
        load(repo.entries.entry(for: id))
      }
    }
  }

  func found(_ handle: DocHandle) {
    handle.store?.changed()
    repo.observers.send(.documentOpened(handle))
    repo.entries[handle.id]?.end(with: .found(handle))
    let linked = handle.sync.linkedPeers
    // Peers that were not allowed to create the document may write to it now.
    for peer in linked { handle.receive(.accessChanged(peer, repo.sharing.access(handle.id, for: peer))) }
    for peer in repo.connections.all where !linked.contains(peer) { repo.introduce(peer, to: handle) }
    resume(handle)
  }

  func notFound(_ handle: DocHandle) {
    guard let entry = repo.entries[handle.id], entry.handle === handle else { return }
    discard(entry)
    entry.end(with: .unavailable)
  }

  /// Ends a search without a result.
  func discard(_ entry: DocumentEntry) {
    if let sync = entry.handle?.sync {
      for peer in sync.engagedPeers { repo.connections.send(.unavailable, on: entry.id, to: peer) }
      repo.connections.decline(entry.id, of: sync.holders)
    }
    entry.handle?.detach()
    repo.entries[entry.id] = nil
    repo.upkeep.left(entry.id)
  }
}
