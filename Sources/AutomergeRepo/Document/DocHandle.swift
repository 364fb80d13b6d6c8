import Automerge
import Foundation

/// One document of a repo: sends its changes to the peers and the store, and reports theirs.
///
/// The document may be read at any time, and changed by any holder: by bound values, on other threads. `change` is the short
/// way: when it returns, its changes are on their way to the peers, while other changes follow in the next turn of the actor.
@AutomergeRepo
public final class DocHandle {
  /// An event of the document.
  public enum Event: Sendable {
    /// A peer's changes, as edits of the present texts; sent before `headsChanged`.
    case textEdits([TextEdit], from: PeerId)
    /// The document has changed: here if `by` is nil, else through this peer.
    case headsChanged(by: PeerId?)
    /// A peer on the document sent an ephemeral message; `via` passed it to us.
    case ephemeral(RepoMessage.EphemeralMessage, via: PeerId)
    /// The peers on the document, or those in sync with it, have changed.
    case peersChanged
    /// `isStored` or `storageProblem` has changed.
    case storageChanged
    /// A peer with read access sent changes; they were refused.
    case refusedChanges(from: PeerId)
    /// A peer has brought changes that their author denies, or changes in our own name if that is nil. They were refused; sent
    /// once per peer.
    case forgedChanges(from: PeerId, author: PeerId?)
    /// Commit now what is not in the document yet: changes may be discarded.
    case preparingToDiscard
    /// The document is about to go back to these heads, without changes that peers refuse; and it has.
    case discarding(leaving: Set<ChangeHash>)
    case discarded
    /// The document was deleted here; the last event.
    case deleted
  }

  public nonisolated let id: DocumentId
  public nonisolated let document: Document

  /// The repo, while the document belongs to it.
  private(set) weak var repo: Repo?
  var sync: DocumentSync
  let incoming = LargeMessages()
  private(set) var store: DocumentStore?
  let signatures = DocumentSignatures()
  let reports: LinkReports
  let claims = AuthorClaims()
  private var progress: PeerProgress
  private var journalFeed = JournalFeed()
  /// Changes that were removed here; their authors still have them.
  public internal(set) var discarded: Set<ChangeHash> = []
  let observers = Observers<Event>()
  private var watch: DocumentWatch?

  init(id: DocumentId, document: Document, phase: DocumentSync.Phase, repo: Repo) {
    (self.id, self.document, self.repo) = (id, document, repo)
    sync = DocumentSync(phase: phase)
    reports = LinkReports(id, local: repo.peerId)
    progress = PeerProgress(heads: document.heads())
    incoming.handle = self
    signatures.handle = self
    reports.handle = self
    claims.handle = self
    watch = DocumentWatch(document) { [weak self] in
      Task { @AutomergeRepo in self?.publishOutsideChanges() }
    }
  }

  /// A handle that belongs to no repo, for `Repo.import(handle:)`: until then nothing of it is stored or sent.
  public nonisolated init(id: DocumentId, doc: Document) {
    (self.id, document) = (id, doc)
    sync = DocumentSync(phase: .ready)
    reports = LinkReports(id, local: PeerId(""))
    progress = PeerProgress(heads: doc.heads())
  }

  // MARK: Changing

  /// Runs `body` on the document and commits what it did as one change, which is on its way to the peers when this returns.
  ///
  /// If `body` throws, what it had done by then is committed all the same. Other threads that use the document wait until the
  /// change is made, so `body` must not wait for them. It runs on the actor, wherever it was written: from a `@MainActor` type,
  /// `try await handle.change { … }`.
  @discardableResult
  public func change<Result: Sendable>(
    message: String? = nil, _ body: @AutomergeRepo (Document) throws -> Result
  ) rethrows -> Result {
    defer { publishChange() }
    return try ignoringWatch {
      try document.withoutOtherThreads {
        defer { document.commitWith(message: message, timestamp: now) }
        return try body(document)
      }
    }
  }

  private var now: Date { repo?.clock.date ?? Date(timeIntervalSince1970: 0) }

  /// Runs `body`, which may change the document, and whose changes the caller publishes.
  func ignoringWatch<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let watch else { return try body() }
    return try watch.ignoring(body)
  }

  /// Publishes changes that were made to the document past this handle.
  private func publishOutsideChanges() {
    guard let watch, watch.hasNews else { return }
    watch.settle()
    document.commitWith(message: nil, timestamp: now)
    // Changes in between may already have taken it to the store, though not to all peers.
    guard document.heads() == currentHeads else { return publishChange() }
    repo?.upkeep.used(id)
    perform(sync.receive(.changed, document: document))
  }

  /// Merges another copy of the document, as if a peer had sent it.
  ///
  /// - Returns: how many changes were new.
  /// - Complexity: O(n) in the changes of both.
  @discardableResult
  public func merge(_ other: Document) throws -> Int {
    let before = document.getHistory().count
    let edits = try ignoringWatch { try signatures.takingIn { try document.mergeWithTextEdits(other: other) } }
    keepJournal()
    if let repo, !edits.isEmpty { observers.send(.textEdits(edits, from: repo.peerId)) }
    publishChange()
    return document.getHistory().count - before
  }

  /// Applies changes that were kept elsewhere, as chunks. Skips those that are here already.
  ///
  /// - Throws: `LoadError` if no chunk is good.
  public func take(_ changes: Data) throws {
    let edits = try ignoringWatch { try signatures.takingIn { try applyKept(changes) } }
    keepJournal()
    if let repo, !edits.isEmpty { observers.send(.textEdits(edits, from: repo.peerId)) }
    publishChange()
  }

  /// Takes in what another process has stored of the document since this one read it. Processes that are connected tell each
  /// other; one that has ended may not have told everything.
  ///
  /// - Parameter heads: changes that are stored. If this document lacks some, all is read.
  /// - Complexity: the names of the chunks are read; if one is of another process, O(n) in the stored document
  public func takeStored(with heads: Set<ChangeHash> = []) async throws {
    guard let storage = repo?.storage else { return }
    if document.unknown(heads).isEmpty {
      guard let store, try await !store.hasTakenAll() else { return }
    }
    let chunks = try await StoredChunks.load(id, from: storage)
    guard let others = chunks.document else { return }
    let news = try others.encodeChangesSince(heads: document.heads())
    if !news.isEmpty { try take(news) }
    store?.took(chunks)
  }

  /// Leaves out changes that were discarded since they were kept.
  private func applyKept(_ changes: Data) throws -> [TextEdit] {
    let unwanted = document.unknown(discarded)
    guard !unwanted.isEmpty else { return try document.applyEncodedChangesWithTextEdits(encoded: changes) }
    let scratch = document.fork()
    try scratch.applyEncodedChanges(encoded: changes)
    scratch.discardAgain(unwanted)
    return try document.mergeWithTextEdits(other: scratch)
  }

  private func publishChange() {
    let now = document.heads()
    guard now != currentHeads else { return }
    progress.changed(to: now)
    keepJournal()
    perform(sync.receive(.changed, document: document))
    store?.changed()
    signatures.changed()
    observers.send(.headsChanged(by: nil))
    reports.documentChanged()
    refreshStatus()
  }

  /// Call when changes were removed from the document's history.
  func contentReplaced(without gone: Set<ChangeHash>) {
    incoming.endAll()
    let heads = document.heads()
    progress.changed(to: heads)
    journalFeed.restart(on: document)
    store?.discard(gone)
    repo?.upkeep.catalogues.remember(self)
    perform(sync.receive(.rewound, document: document))
    refreshStatus()
  }

  /// Sends an ephemeral message to every peer on the document. It is not stored, and may be lost with a connection.
  public func broadcast(_ data: Data) {
    repo?.connections.broadcast(data, on: self)
  }

  // MARK: Hearing

  /// Calls `observer` with every event from now on, in the turn in which it happens.
  ///
  /// The observer must not change this document in that turn: the caller of `change` is not done with it yet. Start a task for that.
  @discardableResult
  public func observe(_ observer: @escaping @AutomergeRepo (Event) -> Void) -> Observation {
    observers.add(observer)
  }

  /// Whether the chunks in the store are being merged.
  var isCompacting: Bool { store?.isCompacting ?? false }

  /// Whether every change, our own or a peer's, is in the store; false without one.
  public var isStored: Bool { store?.isStored ?? false && watch?.hasNews != true }

  /// Why the last attempt to store failed. Retried until it succeeds.
  public var storageProblem: StorageError? { store?.problem }

  /// What the program wants stored together with the document: asked for whenever the document is written, and written after
  /// it. `storeSoon` requests a write.
  public var companions: (@AutomergeRepo () -> [StorageChange])? {
    get { store?.companions }
    set { store?.companions = newValue }
  }

  /// Writes the companions with the next group of changes, even if there are none.
  public func storeSoon() { store?.companionsChanged() }

  /// Called with every change as chunks, our own or a peer's, before any peer or observer hears of it; first with what is not
  /// stored yet. For programs that must not show anything that a crash would make them forget: see `Repo.beforeSending`.
  public var journal: (@AutomergeRepo ([UInt8]) -> Void)? {
    get { journalFeed.handler }
    set {
      let isFirst = newValue != nil && journalFeed.handler == nil
      journalFeed.set(newValue, from: store?.storedHeads ?? currentHeads)
      if isFirst { keepJournal() }
    }
  }

  private func keepJournal() {
    guard let changes = journalFeed.takeNews(of: document) else { return }
    journalFeed.handler?(changes)
  }

  /// Chunks in the store that could not be used. They are kept; peers supply their content.
  public var damagedChunks: [StorageKey] { store?.damaged ?? [] }

  /// Whether some changes wait for others that are missing.
  public var lacksChanges: Bool { !StoredChunks.isComplete(document) }

  /// Returns when the document is stored, and in the same transaction other things of the program's. Throws the store's error
  /// on failure, and then those are not stored; does nothing without a store.
  public func store(with changes: [StorageChange]) async throws(StorageError) {
    publishOutsideChanges()
    try await store?.flush(with: changes)
  }

  /// Returns when everything is stored. Throws the store's error on failure; does nothing without a store.
  public func flush() async throws(StorageError) {
    publishOutsideChanges()
    signatures.signNow()
    // Side by side: a store writes what waits in one transaction.
    async let failure = failureToStoreSignatures()
    try await store?.flush()
    if let failure = await failure { throw failure }
  }

  private func failureToStoreSignatures() async -> StorageError? {
    do throws(StorageError) { try await signatures.store() } catch { return error }
    return nil
  }

  /// The document's heads when the repo last heard of a change.
  var currentHeads: Set<ChangeHash> { progress.heads }

  /// The peers that are on the document now.
  public var peers: [PeerId] { sync.peers }

  /// Whether the peer has told exactly our heads.
  public func inSync(with peer: PeerId) -> Bool {
    sync.heads(of: peer) == currentHeads
  }

  /// How many times the document has changed since the peer had all of it; 0 if it has.
  public func pendingCount(for peer: PeerId) -> Int {
    inSync(with: peer) ? 0 : progress.pendingCount(for: peer)
  }

  // MARK: What the repo does

  func receive(_ event: DocumentSync.Event) {
    if !incoming.defers(event) { deal(with: event) }
  }

  func deal(with event: DocumentSync.Event) {
    perform(ignoringWatch { sync.receive(event, document: document) })
    refreshStatus()
  }

  func deliver(_ event: Event) {
    observers.send(event)
  }

  func attach(_ store: DocumentStore) {
    self.store = store
    store.observers.add { [weak self] event in
      if case .stateChanged = event, let self, self.repo != nil { self.observers.send(.storageChanged) }
    }
  }

  /// Detaches the handle from the repo.
  func detach() {
    incoming.endAll()
    watch?.stop()
    watch = nil
    repo = nil
    reports.stop()
  }

  func perform(_ effects: [DocumentSync.Effect]) {
    if effects.contains(where: \.isChange) { keepJournal() }
    for effect in effects {
      switch effect {
      case .send(let content, let peer):
        repo?.connections.send(content, on: id, to: peer)
      case .edited(let edits, let peer):
        observers.send(.textEdits(edits, from: peer))
      case .headsChanged(let peer):
        progress.changed(to: document.heads())
        store?.changed()
        observers.send(.headsChanged(by: peer))
        reports.documentChanged()
      case .found:
        repo?.loader.found(self)
      case .notFound:
        repo?.loader.notFound(self)
      case .refused(let peer, let refusal):
        repo?.refused(refusal, from: peer, on: self)
      case .answer(let peer):
        perform(sync.receive(.delivered(from: peer), document: document))
      case .later:
        finishTurnLater()
      case .authorship(let effect):
        perform(effect)
      }
    }
    repo?.beforeSending?()
  }

  /// The pause for other work.
  static let turnDelay: Duration = .milliseconds(1)

  /// Sends the rest after other work has run.
  private func finishTurnLater() {
    repo?.clock.schedule(after: Self.turnDelay) { [weak self] in
      if let self, self.repo != nil { self.receive(.turned) }
    }
  }

  func refreshStatus() {
    repo?.upkeep.used(id)
    if sync.phase == .searching { repo?.entries[id]?.tellProgress() }
    repo?.remotes.heads.noteHeads(of: self)
    let heads = currentHeads
    let (peerCount, areSamePeers, isSame) = progress.compare(sync.links) { peerStatus(at: $0, heads) }
    if reports.refresh(areSamePeers: areSamePeers) { signatures.peersChanged() }
    signatures.refreshAuthors()
    claims.refresh(peerCount: peerCount)
    guard !isSame else { return }
    let now = currentHeads
    progress.note(sync.links) { peerStatus(at: $0, now) }
    signatures.compare()
    repo?.remotes.syncStates.noteChange(of: self)
    observers.send(.peersChanged)
  }

  private func peerStatus(at index: Int, _ heads: Set<ChangeHash>) -> PeerProgress.Status {
    PeerProgress.Status(isEqual: sync.links[index].heads == heads, refuses: isRefused(at: index, heads))
  }

  // MARK: Many peers

  /// Peers that get our changes from relays.
  var idlePeers: Set<PeerId> { sync.idlePeers }

  func setIdle(_ peers: Set<PeerId>) { perform(sync.receive(.idle(peers), document: document)) }

  /// Whether what a peer passes on as the word of an author counts. An author that is linked to us here speaks for itself, or
  /// through the relays that it has named to us; a peer with read access speaks for no other; and for us only our own processes
  /// speak.
  func maySpeak(_ peer: PeerId, for author: PeerId) -> Bool {
    guard let repo, !repo.connections.isSibling(peer), author != peer else { return repo != nil }
    guard author != repo.peerId, sync.isWriter(peer) else { return false }
    return !sync.isPeer(author) || reports.carries(peer, author)
  }
}
