import Automerge
import Foundation

/// One document of a repo: sends its changes to the peers and the store, and reports theirs.
///
/// Any holder may read and change the document at any time, on any thread, also by bound values. `change` is the fast
/// path: when it returns, its changes are on their way to the peers, while other changes follow in the next turn of the
/// actor.
@AutomergeRepo
public final class DocHandle {
  /// An event of the document.
  public enum Event: Sendable {
    /// A peer's changes, as edits of the texts as they are now; sent before `headsChanged`.
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
    /// A peer brought changes that their author denies; without an author, changes in our own name. They were refused.
    /// Sent once per peer.
    case forgedChanges(from: PeerId, author: PeerId?)
    /// Observers commit what they still hold back: changes may be discarded next.
    case preparingToDiscard
    /// The document is about to return to these heads, without the changes that peers refuse; and it has returned.
    case discarding(leaving: Set<ChangeHash>)
    case discarded
    /// The document was deleted here; the last event.
    case deleted
  }

  public nonisolated let id: DocumentId
  public nonisolated let document: Document

  var membership = Membership()
  var sync: DocumentSync
  let incoming = LargeMessages()
  private(set) var store: DocumentStore?
  let signatures = DocumentSignatures()
  let reports: LinkReports
  let claims = AuthorClaims()
  private var progress: PeerProgress
  private var journalFeed = JournalFeed()
  /// Changes that were removed here, though their authors still have them.
  public internal(set) var discarded: Set<ChangeHash> = []
  let observers = Observers<Event>()
  private var watch: DocumentWatch?

  /// The repo, while the document belongs to it.
  var repo: Repo? { membership.repo }

  init(id: DocumentId, document: Document, phase: DocumentSync.Phase, repo: Repo) {
    (self.id, self.document, membership.repo) = (id, document, repo)
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

  /// A handle that belongs to no repo, for `Repo.import(handle:)`. Until then it stores and sends nothing.
  public nonisolated init(id: DocumentId, doc: Document) {
    (self.id, document) = (id, doc)
    sync = DocumentSync(phase: .ready)
    reports = LinkReports(id, local: PeerId(""))
    progress = PeerProgress(heads: doc.heads())
  }

  // MARK: Changing

  /// Runs `body` on the document and commits what it did as one change, which is on its way to the peers when this returns.
  ///
  /// If `body` throws, what it did until then is committed all the same. Once the document is deleted, changes stay in `document`
  /// alone, and `flush` throws. Other threads that use the document wait until the change is made, so `body` must not wait for them.
  /// It runs on the actor, wherever it was written: from a `@MainActor` type, `try await handle.change { … }`.
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

  /// Without a repo, the system's time.
  private var now: Date { repo?.clock.date ?? Date() }

  /// Runs `body` without noticing its changes to the document: the caller publishes them.
  func ignoringWatch<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let watch else { return try body() }
    return try watch.ignoring(body)
  }

  /// Publishes changes that were made to the document without this handle.
  func publishOutsideChanges() {
    guard let watch, watch.hasNews else { return }
    watch.settle()
    document.commitWith(message: nil, timestamp: now)
    // A change in between may have stored them already, but not sent them to all peers.
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

  /// Makes the heads one, by a change without content on top of all of them. Does nothing if there is only one.
  package func mergeHeads() {
    guard document.heads().count > 1 else { return }
    ignoringWatch { document.commitEmpty(timestamp: now) }
    publishChange()
  }

  /// Applies changes that were kept elsewhere, as chunks. Skips the changes that the document has.
  ///
  /// - Throws: `LoadError` if no chunk is good.
  public func take(_ changes: Data) throws {
    let edits = try ignoringWatch { try signatures.takingIn { try applyKept(changes) } }
    keepJournal()
    if let repo, !edits.isEmpty { observers.send(.textEdits(edits, from: repo.peerId)) }
    publishChange()
  }

  /// Merges what another process has stored of the document since this process read it. Connected processes send each
  /// other their changes; one that has ended may not have sent everything.
  ///
  /// - Parameter heads: changes that are known to be stored. If this document lacks some, all chunks are read.
  /// - Complexity: O(n) in the names of the chunks; if another process wrote one, in the stored document
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

  /// Applies the chunks without the changes that were discarded since they were kept.
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
  /// The observer must not change this document in that turn, in which the caller of `change` still works on it: start
  /// a task.
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

  /// What the program wants stored together with the document: called at each write of the document, and written after
  /// it. `storeSoon` requests a write.
  public var companions: (@AutomergeRepo () -> [StorageChange])? {
    get { store?.companions }
    set { store?.companions = newValue }
  }

  /// Writes the companions with the next group of changes, even if there are no changes.
  public func storeSoon() { store?.companionsChanged() }

  /// Called with every change as chunks, our own or a peer's, before any peer or observer hears of it; at first with
  /// what is not stored yet. For programs that show nothing which a crash could lose: see `Repo.beforeSending`.
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

  /// Chunks in the store that could not be used. They stay in the store; peers supply their content.
  public var damagedChunks: [StorageKey] { store?.damaged ?? [] }

  /// Whether some changes wait for others that are missing.
  public var lacksChanges: Bool { document.hasWaitingChanges }

  /// Returns when the document is stored, and in the same transaction the program's `changes`. On failure, throws the
  /// store's error, `.deleted` if the document was deleted here, and `changes` are not stored. Does nothing without a store.
  public func store(with changes: [StorageChange]) async throws(StorageError) {
    publishOutsideChanges()
    try await store?.flush(with: changes)
  }

  /// Returns when everything is stored. Throws the store's error, `.deleted` after a deletion; does nothing without a store.
  public func flush() async throws(StorageError) {
    publishOutsideChanges()
    signatures.signNow()
    // Both at once: a store writes everything that waits in one transaction.
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

  /// How many heads the document had when the repo last heard of a change.
  package var headCount: Int { progress.heads.count }

  /// The peers that are on the document now.
  public var peers: [PeerId] { sync.peers }

  /// Whether the last heads that the peer sent are ours.
  public func inSync(with peer: PeerId) -> Bool { sync.heads(of: peer) == currentHeads }

  /// How many times the document has changed since the peer had all of it, other than by the peer; 0 if it has all.
  public func pendingCount(for peer: PeerId) -> Int {
    inSync(with: peer) ? 0 : max(percentReceived(from: peer) == nil ? 1 : 0, progress.pendingCount(for: peer))
  }

  /// How much of what the peer has is here, from 0 to 99, if it has changes that have not arrived; nil if there are none.
  /// 0 if the peer has not said how many it has.
  public func percentReceived(from peer: PeerId) -> Int? {
    progress.percent(from: peer, of: document.changeCount)
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
    membership.repo = nil
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
        progress.changed(to: document.heads(), by: peer)
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

  /// How long the actor is free for other work between two turns.
  static let turnDelay: Duration = .milliseconds(1)

  /// Sends the rest once other work has had its turn.
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
    let theirs = sync.links[index].heads, announced = sync.links[index].announced?.heads ?? theirs
    return PeerProgress.Status(
      isEqual: theirs == heads, refuses: isRefused(at: index, heads),
      isSending: announced.map { $0 != heads && !document.unknown($0).isEmpty } ?? false)
  }

  // MARK: Many peers

  /// Peers to which we send nothing unasked, because relays bring them our changes.
  var idlePeers: Set<PeerId> { sync.idlePeers }

  func setIdle(_ peers: Set<PeerId>) { perform(sync.receive(.idle(peers), document: document)) }

  /// Whether to accept a message that a peer passes on for an author. An author that is linked to us here speaks for
  /// itself, or through the relays that it has named to us; a peer with read access speaks only for itself; and only
  /// our own processes speak for us.
  func maySpeak(_ peer: PeerId, for author: PeerId) -> Bool {
    guard let repo, !repo.connections.isSibling(peer), author != peer else { return repo != nil }
    guard author != repo.peerId, sync.isWriter(peer) else { return false }
    return !sync.isPeer(author) || reports.carries(peer, author)
  }
}
