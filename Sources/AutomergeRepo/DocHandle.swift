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
  /// The peers' large messages that are being read.
  var incoming: [PeerId: Incoming] = [:]
  private(set) var store: DocumentStore?
  let signatures = DocumentSignatures()
  private var heads: Set<ChangeHash>
  /// The heads that the journal has.
  private var journaledHeads: Set<ChangeHash> = []
  private var status: [PeerId: PeerStatus] = [:]
  /// How often the document has changed in memory, and how often it had when each peer last had all of it.
  private var changeNumber = 0
  private var equalAt: [PeerId: Int] = [:]
  private var relays: Relays
  /// Peers that get our changes from relays.
  private(set) var idlePeers: Set<PeerId> = []
  /// What we have told each peer about our links; a new peer has no entry.
  private var told: [PeerId: Relays.Report] = [:]
  /// The actors that we have told each peer we write as.
  var authorsTold: [PeerId: Set<ActorId>] = [:]
  private var toldActor: ActorId?
  /// Changes that were removed here; their authors still have them.
  public internal(set) var discarded: Set<ChangeHash> = []
  private var writers: [PeerId] = []
  private var reportTimer: (any ScheduledAction)?
  private var quietTimer: (any ScheduledAction)?
  private var turnTimer: (any ScheduledAction)?
  private let observers = Observers<Event>()
  private var watch: DocumentWatch?

  init(id: DocumentId, document: Document, phase: DocumentSync.Phase, repo: Repo) {
    (self.id, self.document, self.repo) = (id, document, repo)
    sync = DocumentSync(phase: phase)
    relays = Relays(document: id, local: repo.peerId)
    heads = document.heads()
    signatures.handle = self
    watch = DocumentWatch(document) { [weak self] in
      Task { @AutomergeRepo in self?.publishOutsideChanges() }
    }
  }

  // MARK: Changing

  /// Runs `body` on the document and commits what it did as one change, which is on its way to the peers when this returns.
  ///
  /// If `body` throws, what it had done by then is committed all the same. Other threads that use the document wait until the
  /// change is made, so `body` must not wait for them.
  @discardableResult
  public func change<Result>(message: String? = nil, _ body: (Document) throws -> Result) rethrows -> Result {
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
    if document.heads() == heads { perform(sync.receive(.changed, document: document)) } else { publishChange() }
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
  /// - Complexity: one row is read; if it names unknown changes, O(n) in the stored document
  public func takeStored() async throws {
    guard let storage = repo?.storage, let row = try await storage.load(StoredHeads.key(id)),
      let stored = StoredHeads.decode(row), !document.unknown(stored).isEmpty,
      let others = try await StoredChunks.load(id, from: storage).document
    else { return }
    let news = try others.encodeChangesSince(heads: document.heads())
    if !news.isEmpty { try take(news) }
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
    guard now != heads else { return }
    heads = now
    keepJournal()
    changeNumber += 1
    perform(sync.receive(.changed, document: document))
    store?.changed()
    signatures.changed()
    observers.send(.headsChanged(by: nil))
    tellWhenQuiet()
    refreshStatus()
  }

  /// Call when changes were removed from the document's history.
  func contentReplaced(without gone: Set<ChangeHash>) {
    endAllIncoming()
    heads = document.heads()
    journaledHeads = heads
    changeNumber += 1
    store?.discard(gone)
    repo?.rememberHeads(of: self)
    perform(sync.receive(.rewound, document: document))
    refreshStatus()
  }

  /// Sends an ephemeral message to every peer on the document. It is not stored, and may be lost with a connection.
  public func broadcast(_ data: Data) {
    repo?.broadcast(data, on: self)
  }

  // MARK: Hearing

  /// Calls `observer` with every event from now on, in the turn in which it happens.
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
  public var journal: (@AutomergeRepo (Data) -> Void)? {
    didSet {
      guard journal != nil, oldValue == nil else { return }
      journaledHeads = store.map(\.storedHeads) ?? heads
      keepJournal()
    }
  }

  private func keepJournal() {
    guard let journal else { return }
    let now = document.heads()
    guard now != journaledHeads else { return }
    let changes = (try? document.encodeChangesSince(heads: journaledHeads)) ?? Data()
    journaledHeads = now
    journal(changes)
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
  var currentHeads: Set<ChangeHash> { heads }

  /// The peers that are on the document now.
  public var peers: [PeerId] { sync.peers }

  /// Whether the peer has told exactly our heads.
  public func inSync(with peer: PeerId) -> Bool {
    sync.heads(of: peer) == heads
  }

  private struct PeerStatus: Equatable {
    var isEqual: Bool
    /// Lacks something that is here, and refuses our changes.
    var refuses: Bool
  }

  private func peerStatus(at index: Int) -> PeerStatus {
    PeerStatus(isEqual: sync.links[index].theirHeads == heads, refuses: isRefused(at: index))
  }

  /// How many times the document has changed since the peer had all of it; 0 if it has.
  public func pendingCount(for peer: PeerId) -> Int {
    inSync(with: peer) ? 0 : max(1, changeNumber - (equalAt[peer] ?? 0))
  }

  // MARK: What the repo does

  func receive(_ event: DocumentSync.Event) {
    if !defers(event) { deal(with: event) }
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
    store.onChange = { [weak self] in self?.observers.send(.storageChanged) }
  }

  /// Detaches the handle from the repo.
  func detach() {
    endAllIncoming()
    watch?.stop()
    watch = nil
    repo = nil
    store?.onChange = nil
    reportTimer?.cancel()
    quietTimer?.cancel()
    turnTimer?.cancel()
  }

  func perform(_ effects: [DocumentSync.Effect]) {
    if effects.contains(where: \.isChange) { keepJournal() }
    for effect in effects {
      switch effect {
      case .send(let payload, let peer):
        repo?.send(payload, on: id, to: peer)
      case .edited(let edits, let peer):
        observers.send(.textEdits(edits, from: peer))
      case .headsChanged(let peer):
        heads = document.heads()
        changeNumber += 1
        store?.changed()
        observers.send(.headsChanged(by: peer))
        tellWhenQuiet()
      case .found:
        repo?.found(self)
      case .notFound:
        repo?.notFound(self)
      case .refused(let peer, let refusal):
        repo?.refused(refusal, from: peer, on: self)
      case .later:
        goOnLater()
      case .authorship(let effect):
        perform(effect)
      }
    }
    repo?.beforeSending?()
  }

  /// Sends the rest after other work has run.
  private func goOnLater() {
    guard turnTimer == nil else { return }
    turnTimer = repo?.clock.schedule(after: DocHandle.turnDelay) { [weak self] in
      self?.turnTimer = nil
      self?.receive(.turned)
    }
  }

  func refreshStatus() {
    let indices = sync.links.indices.filter { sync.links[$0].stance != .lacks }
    var isSame = indices.count == status.count, areSamePeers = isSame
    for index in indices {
      let peer = sync.links[index].peer, now = peerStatus(at: index), before = status[peer]
      if now.isEqual { equalAt[peer] = changeNumber }
      if before == nil { areSamePeers = false }
      if before != now { isSame = false }
    }
    if !areSamePeers || sync.writers != writers {
      refreshRelays()
      signatures.peersChanged()
    }
    signatures.refreshAuthors()
    if toldActor != document.actor || authorsTold.count != indices.count {
      toldActor = document.actor
      tellAuthors()
    }
    guard !isSame else { return }
    let present = sync.links.indices.filter { sync.links[$0].stance != .lacks }
    status = Dictionary(uniqueKeysWithValues: present.map { (sync.links[$0].peer, peerStatus(at: $0)) })
    signatures.compare()
    observers.send(.peersChanged)
  }

  // MARK: Many peers

  /// How long a document's peers must have stayed the same before each is told of them.
  /// Source: PeerProtocol.md, "Many peers".
  static let reportDelay: Duration = .milliseconds(200)
  /// The pause for other work.
  static let turnDelay: Duration = .milliseconds(1)
  /// How long nothing must have changed before peers on idle links are told our heads.
  static let quietDelay: Duration = .seconds(2)

  /// A peer has told its links on this document.
  func heard(_ report: Relays.Report, from peer: PeerId) {
    guard sync.linkedPeers.contains(peer) else { return }
    relays.heard(report, from: peer)
    if let repo {
      let isSilent = report.idle.contains(repo.peerId)
      receive(.authorship(.relayed(peer, by: isSilent ? report.peers.subtracting(report.idle) : nil)))
    }
    refreshRelays()
  }

  /// The peers to which a peer's message is passed on: not those that hear it from its author, or from `via`.
  func listeners(to author: PeerId, via: PeerId) -> [PeerId] {
    sync.peers.filter { peer in
      peer != via && peer != author && !idlePeers.contains(peer) && !relays.reaches(author, peer)
        && (via == author || !relays.reaches(via, peer))
    }
  }

  /// Whether what a peer passes on as the word of an author counts. An author that is linked to us here speaks for itself, or
  /// through the relays that it has named to us; a peer with read access speaks for no other; and for us only our own processes
  /// speak.
  func maySpeak(_ peer: PeerId, for author: PeerId) -> Bool {
    guard let repo, !repo.isSibling(peer), author != peer else { return repo != nil }
    guard author != repo.peerId, sync.isWriter(peer) else { return false }
    return !sync.isPeer(author) || relays.carries(peer, author)
  }

  private func refreshRelays() {
    let linked = Set(sync.peers)
    writers = sync.writers
    relays.keep(linked)
    told = told.filter { linked.contains($0.key) }
    let idle = relays.idlePeers(linked: linked, writers: Set(writers))
    if idle != idlePeers {
      idlePeers = idle
      perform(sync.receive(.idle(idle), document: document))
    }
    guard reportTimer == nil, !peersToTell.isEmpty else { return }
    reportTimer = repo?.clock.schedule(after: DocHandle.reportDelay) { [weak self] in self?.sendReport() }
  }

  /// Our links, as we tell them to peers. Empty between two peers, where there is nothing to relay.
  private var report: Relays.Report {
    sync.peers.count < 2
      ? Relays.Report() : Relays.Report(peers: Set(writers.prefix(Relays.mostPeers)), idle: idlePeers)
  }

  private var peersToTell: [PeerId] {
    let report = report
    return sync.peers.filter { told[$0, default: Relays.Report()] != report }
  }

  private func sendReport() {
    reportTimer = nil
    let report = report
    for peer in peersToTell {
      told[peer] = report
      repo?.send(report, on: id, to: peer)
    }
  }

  private func tellWhenQuiet() {
    guard !idlePeers.isEmpty, quietTimer == nil, let repo else { return }
    let seen = heads
    quietTimer = repo.clock.schedule(after: DocHandle.quietDelay) { [weak self] in
      guard let self else { return }
      self.quietTimer = nil
      guard self.heads == seen else { return self.tellWhenQuiet() }
      for peer in self.idlePeers { self.repo?.sendHeads(of: [(self.id, seen)], to: peer) }
    }
  }
}
