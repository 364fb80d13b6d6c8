import Automerge
import Foundation
import Logging

/// A set of documents: finds them, creates them, stores them, and syncs them with the peers.
///
/// Start here: make a repo, `add` network providers, then `create` or `find` documents and use their handles.
@AutomergeRepo
public final class Repo {
  /// An event of the set as a whole.
  public enum Event: Sendable {
    case peerConnected(PeerId, PeerMetadata)
    case peerDisconnected(PeerId)
    /// Another process of the same person on the same store.
    case siblingConnected(PeerId)
    case siblingDisconnected(PeerId)
    /// A document has come into memory: created, loaded, or received.
    case documentOpened(DocHandle)
    case documentDeleted(DocumentId)
    /// A stored document was released from memory.
    case documentReleased(DocumentId)
  }

  public nonisolated let peerId: PeerId
  public let storage: (any StorageProvider)?
  public let clock: any RepoClock

  /// Signs this person's changes; nil leaves them unsigned.
  public var signer: ChangeSigner?

  var stored: StoredDocuments? { storage.map { StoredDocuments(storage: $0) } }
  let logger: Logger
  let observers = Observers<Event>()
  package let connections: PeerConnections
  package let entries = DocumentEntries()
  let sharing: DocumentSharing
  private(set) lazy var upkeep = Upkeep(self)
  let released = ReleasedDocuments()
  private(set) lazy var remotes = RemoteStores(self)
  private var commits: CommitLog
  private var random: RandomSource

  /// - Parameters:
  ///   - peerId: the name under which peers know this repo. A network that proves the identity of peers sets it.
  ///   - storage: without one, all documents are gone when the program ends.
  ///   - random: source of document ids. A peer that guesses an id may ask for it, so it must not be weak.
  public nonisolated init(
    peerId: PeerId = .random(), metadata: PeerMetadata = PeerMetadata(), storage: (any StorageProvider)? = nil,
    sharePolicy: any ShareAuthorizing = ShareNothing(), clock: any RepoClock = SystemClock(),
    random: RandomSource = RandomSource(), logger: Logger = Logger(label: "repo")
  ) {
    (self.peerId, self.storage, self.clock, self.logger) = (peerId, storage, clock, logger)
    var random = random
    let sessionId = String(random.next(), radix: 36)
    self.random = random
    connections = PeerConnections(
      local: LocalPeer(peerId: peerId, metadata: metadata), sessionId: sessionId, clock: clock, logger: logger)
    sharing = DocumentSharing(policy: sharePolicy, connections: connections, entries: entries)
    commits = CommitLog(lossCount: storage?.lossCount ?? 0)
  }

  /// The same in automerge-repo-swift's order.
  public nonisolated convenience init(sharePolicy: any ShareAuthorizing, storage: any StorageProvider) {
    self.init(storage: storage, sharePolicy: sharePolicy)
  }

  /// The same with networks, which the repo starts at once.
  public convenience init(
    sharePolicy: any ShareAuthorizing, storage: any StorageProvider, networks: [any NetworkProvider]
  ) {
    self.init(storage: storage, sharePolicy: sharePolicy)
    for network in networks { add(network) }
  }

  // MARK: Documents

  /// Adds a new document, or one made elsewhere, under a new id. Stores it, and announces it to the peers that the policy allows.
  ///
  /// - Throws: `stopped` after `shutDown`
  public func create(_ document: Document = Document()) throws(RepoError) -> DocHandle {
    guard !connections.isStopped else { throw .stopped }
    let entry = DocumentEntry(id: DocumentId.random(using: &random))
    entries[entry.id] = entry
    return fill(entry, with: document)
  }

  /// Gives `document` to an entry for which the store has none.
  func fill(_ entry: DocumentEntry, with document: Document) -> DocHandle {
    document.commitWith(message: nil, timestamp: clock.date)
    // A document without changes has nothing that peers could ask for. automerge-repo makes this change, too.
    if document.heads().isEmpty { document.commitEmpty(timestamp: clock.date) }
    let handle = DocHandle(id: entry.id, document: document, phase: .ready, repo: self)
    entry.handle = handle
    upkeep.used(entry.id)
    attachStore(to: handle, loaded: nil)
    handle.store?.storeWhole()
    handle.signatures.changed()
    loader.announce(handle)
    loader.deliverQueue(of: entry)
    return handle
  }

  /// The documents in memory, in no particular order.
  public var handles: [DocHandle] { entries.readyHandles }

  /// The document if it is in memory.
  public func handle(of id: DocumentId) -> DocHandle? { entries[id].flatMap { $0.isReady ? $0.handle : nil } }

  /// The ids of all documents, in memory or in the store.
  public func documentIds() async throws(StorageError) -> Set<DocumentId> {
    try await (stored?.ids() ?? []).union(handles.map(\.id))
  }

  /// Whether the document is in memory or in the store, and not empty.
  public func isHere(_ id: DocumentId) async throws(StorageError) -> Bool {
    if handle(of: id) != nil { return true }
    let isStored = try await stored?.contains(id) ?? false
    return isStored || handle(of: id) != nil
  }

  /// Removes the document permanently: from memory and from the store. Later searches report it as deleted. Peers keep
  /// their copies.
  ///
  /// Searches for the document wait until the store has removed it. If the store fails, the document stays as it is.
  public func delete(id: DocumentId) async throws(StorageError) {
    try await DocumentRemover(repo: self).delete(id)
  }

  /// Drops a document from memory that is stored and not in use. It is loaded again on demand, or when a peer sends
  /// something about it. It stays in memory if its handle is held, something of it is not stored, or a peer on it has
  /// other heads. If the program still holds the `Document` and changes it, the document is loaded again and the change
  /// merged.
  ///
  /// - Returns: whether it has left memory
  public func release(_ id: DocumentId) -> Bool {
    guard let entry = entries[id], entry.isReady, !entry.isAwaited, entry.isOnlyOwner, let handle = entry.handle,
      handle.isStored, handle.signatures.isStored, !handle.isCompacting, handle.incoming.isEmpty,
      handle.companions == nil,
      handle.sync.linkedPeers.allSatisfy({ handle.inSync(with: $0) }),
      connections.release(id, of: handle.sync.linkedPeers.filter { !sharing.announces(id, to: $0) })
    else { return false }
    connections.remember(handle.currentHeads, of: id, from: handle.sync.linkedPeers)
    handle.claims.withdraw()
    handle.detach()
    entries[id] = nil
    upkeep.left(id)
    upkeep.catalogues.released(handle)
    remotes.forget(id)
    released.watch(handle.document, id: id, handle.store, for: self)
    observers.send(.documentReleased(id))
    return true
  }

  /// Allows a document with this id again after a deletion. Does nothing if it was not deleted.
  public func undelete(_ id: DocumentId) async throws(StorageError) {
    try await stored?.undelete(id)
  }

  /// Returns when everything in memory is stored. Tries every document, then throws a failure if there was one.
  public func flush() async throws(StorageError) {
    var failure = await released.takeBack(into: self)
    // All at once: a store writes everything that waits in one transaction.
    let attempts = handles.map { handle in
      Task { await Result { () async throws(StorageError) in try await handle.flush() } }
    }
    for attempt in attempts {
      if case .failure(let error) = await attempt.value { failure = error }
    }
    if let failure { throw failure }
  }

  /// How long `shutDown` waits for the connected peers.
  public nonisolated static let maximumFarewell: Duration = .seconds(2)

  /// Stores everything and disconnects from the network for good. First waits until the connected peers have every
  /// change that is here and that they may have, but not longer than `limit`, so that a peer which does not answer
  /// delays nothing for long; what they send until then is taken. Searches end with `stopped`, and sequences of updates
  /// end.
  public func shutDown(waitingForPeers limit: Duration = Repo.maximumFarewell) async throws(StorageError) {
    connections.leave()
    for entry in entries.all where !entry.isReady { entry.end(with: .stopped) }
    await Farewell.wait(of: self, within: limit)
    defer { stop() }
    stopReceiving()
    try await flush()
    if texts.areKept { try? await texts.keep() }
  }

  private func stop() {
    connections.stop()
    for handle in handles { handle.observers.endSequences() }
    observers.endSequences()
  }

  /// Calls `observer` with every event from now on.
  @discardableResult
  public func observe(_ observer: @escaping @AutomergeRepo (Event) -> Void) -> Observation {
    observers.add(observer)
  }

  func attachStore(to handle: DocHandle, loaded: StoredChunks?) {
    guard let storage else { return }
    let store = DocumentStore(
      id: handle.id, document: handle.document, loaded: loaded, storage: storage, clock: clock)
    store.observers.add { [weak self] event in
      guard case .written(let time) = event else { return }
      self?.commits.note(time)
      self?.storeAnewAfterLoss()
    }
    handle.attach(store)
    storeAnewAfterLoss()
  }

  /// How long the last commits of documents took, in no particular order.
  public var commitTimes: [Duration] { commits.times }

  /// How long the commits of documents took since the start.
  public var commitLatency: LatencyHistogram { commits.latency }

  /// How long the oldest change that is not stored has been waiting; zero if everything is stored.
  ///
  /// - Complexity: O(n) in the documents in memory
  public var storedLag: Duration {
    let since = entries.all.compactMap { $0.handle?.store?.unstoredSince }.min()
    return since.map { clock.now - $0 } ?? .zero
  }

  /// Stores everything in memory again, because a store that had to be rebuilt may have lost some of it.
  private func storeAnewAfterLoss() {
    guard let storage, commits.isLoss(storage.lossCount) else { return }
    logger.warning("The store had to be rebuilt; everything in memory is stored anew.")
    for handle in handles { handle.store?.storeWhole() }
  }
}
