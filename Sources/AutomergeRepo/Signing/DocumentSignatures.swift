import Automerge
import Foundation

/// Signs this person's changes to a document, and collects the signatures of others.
///
/// Costs nothing per keystroke: signing waits for a pause, and signatures from peers are verified off the actor.
@AutomergeRepo
final class DocumentSignatures {
  /// The most signatures that wait to be verified. Further ones are dropped; peers send them again when they compare
  /// books. Source: PeerProtocol.md, "Signatures".
  private static let maximumWaiting = 4096
  private static let storeDelay: Duration = .milliseconds(200)

  weak var handle: DocHandle?
  private var book = SignatureBook()
  private var schedule = SigningSchedule()
  private var linked = LinkedAuthors()
  private var authorshipSeen = -1
  /// The digest last sent to each peer, and the last pair of digests (ours, theirs) for which we sent the peer our
  /// signatures.
  private var told: [PeerId: Data] = [:]
  private var examined: [PeerId: [Data]] = [:]
  private var waiting: [(signature: ChangeSignature, peer: PeerId)] = []
  private var isChecking = false
  /// Actors whose last signature is not stored yet, and the number of each stored signature.
  private var unstored: Set<ActorId> = []
  private var storing: (any ScheduledAction)?
  private var storedNumbers: [ActorId: Int] = [:]
  /// An actor of ours that also has changes which this process did not make. We sign none of its changes.
  private var foreign: ActorId?

  nonisolated init() {}

  // MARK: Signing

  /// Call when this person has changed the document.
  func changed() {
    guard handle?.repo?.signer != nil else { return }
    perform(schedule.receive(.changed))
  }

  private func perform(_ effect: SigningSchedule.Effect?) {
    switch effect {
    case nil: break
    case .startTimer:
      handle?.repo?.clock.schedule(after: SigningSchedule.tickInterval) { [weak self] in
        guard let self else { return }
        self.perform(self.schedule.receive(.ticked))
      }
    case .sign:
      signNow()
      storeSoon()
    }
  }

  /// Signs what is not signed yet, and sends the signature to every peer on the document.
  func signNow() {
    guard schedule.isUnsigned, let handle, handle.sync.phase == .ready else { return }
    _ = schedule.receive(.signed)
    guard handle.document.actor != foreign else { return }
    handle.document.lastChange(by: handle.document.actor).map { sign($0) }
  }

  private func sign(_ change: ChangeHash) {
    guard let handle, let repo = handle.repo, let (actor, number) = handle.document.authorship(of: change),
      book.proven[actor]?.change != change, let signature = repo.signer?.sign(actor, number, change)
    else { return }
    book.prove(signature)
    unstored.insert(actor)
    repo.upkeep.used(handle.id)
    for peer in handle.peers where !handle.idlePeers.contains(peer) {
      repo.connections.send([signature], on: handle.id, to: peer)
    }
  }

  /// Signs for a process of this person that has died. All changes of its actor among these are its own.
  func sign(_ changes: [ChangeHash], of actor: ActorId) {
    guard let handle else { return }
    let own = changes.compactMap { change in
      handle.document.authorship(of: change).flatMap { $0.actor == actor ? (change, $0.number) : nil }
    }
    guard let last = own.max(by: { $0.1 < $1.1 }), last.1 > book.proven[actor]?.number ?? 0 else { return }
    sign(last.0)
  }

  /// Runs `work`, which applies changes that do not come from a peer. Some of them may name our own actor.
  func takingIn<Result>(_ work: () throws -> Result) rethrows -> Result {
    guard let document = handle?.document else { return try work() }
    let actor = document.actor, count = document.changeCount(by: actor)
    defer { if document.changeCount(by: actor) != count { foreign = actor } }
    return try work()
  }

  /// Call after changes were removed. Signs those that remain of our former actor's.
  func discarded(_ former: ActorId) {
    guard let handle else { return }
    book.remove { handle.document.authorship(of: $0.change) == nil }
    guard former != foreign else { return }
    handle.document.lastChange(by: former).map { sign($0) }
  }

  // MARK: Showing

  /// Which of the document's changes are vouched for now.
  func vouching() -> ChangeVouching {
    guard let handle else { return ChangeVouching(signed: [:], linked: [:]) }
    settle()
    let document = handle.document
    let signed = book.proven.compactMapValues { signature in
      document.authorship(of: signature.change).flatMap {
        $0 == (signature.actor, signature.number) ? signature.number : nil
      }
    }
    var linked = linked.counts
    if document.actor != foreign { linked[document.actor] = 0 }
    return ChangeVouching(signed: signed, linked: linked)
  }

  // MARK: Peers

  /// Call after the document may have changed.
  func refreshAuthors() {
    guard let handle, authorshipSeen != handle.sync.authorship.generation, handle.sync.phase == .ready else { return }
    authorshipSeen = handle.sync.authorship.generation
    updateLinked()
  }

  /// Call when peers may have caught up with the document. Sends our digest to each peer that is in sync for the first time.
  func compare() {
    guard let handle, !book.proven.isEmpty, handle.sync.phase == .ready else { return }
    for peer in handle.peers where told[peer] == nil && handle.inSync(with: peer) { tellDigest(to: peer) }
  }

  /// Call when the peers on the document, or their access, have changed.
  func peersChanged() {
    guard let handle else { return }
    let peers = Set(handle.peers)
    told = told.filter { peers.contains($0.key) }
    examined = examined.filter { peers.contains($0.key) }
    updateLinked()
  }

  private func updateLinked() {
    guard let handle, handle.sync.phase == .ready else { return }
    var actors = handle.sync.actorsThatSpeak
    if !handle.incoming.isEmpty {
      // A large message that is still being read may contain changes whose authors were not asked, because they were
      // not linked yet. Authors that have connected since do not count until the message has been read.
      let known = actors.intersection(linked.counts.keys)
      if known != actors { authorshipSeen = -1 }
      actors = known
    }
    linked.update(actors) { handle.document.changeCount(by: $0) }
  }

  /// Call at regular intervals. Sends again what may have been lost.
  func checked() {
    guard let handle, let repo = handle.repo else { return }
    book.tidy(now: repo.clock.now)
    settle()
    let digest = book.digest
    for peer in handle.peers where told[peer, default: SignatureBook.emptyDigest] != digest && handle.inSync(with: peer)
    {
      tellDigest(to: peer)
    }
    if !unstored.isEmpty { storeSoon() }
  }

  /// Whether `checked` has nothing to do until something happens to the document.
  var isSettled: Bool { unstored.isEmpty && book.isTidy }

  private func tellDigest(to peer: PeerId) {
    guard let handle else { return }
    told[peer] = book.digest
    handle.repo?.connections.send(.signatureDigest(book.digest, on: handle.id), to: peer)
  }

  func heard(digest theirs: Data, from peer: PeerId) {
    guard let handle, handle.sync.linkedPeers.contains(peer) else { return }
    let ours = book.digest
    guard theirs != ours, examined[peer] != [ours, theirs] else { return }
    examined[peer] = [ours, theirs]
    if told[peer] != ours { tellDigest(to: peer) }
    handle.repo?.connections.send(Array(book.proven.values), on: handle.id, to: peer)
  }

  func heard(_ signatures: [ChangeSignature], from peer: PeerId) {
    guard let handle, let repo = handle.repo, handle.sync.linkedPeers.contains(peer) else { return }
    settle()
    repo.upkeep.used(handle.id)
    let news = signatures.filter { book.isNews($0) && handle.document.changeCount(by: $0.actor) > 0 }
    let room = max(0, Self.maximumWaiting - waiting.count)
    waiting += news.prefix(book.admit(min(news.count, room), from: peer, now: repo.clock.now)).map { ($0, peer) }
    checkNext()
  }

  private func checkNext() {
    guard !isChecking, !waiting.isEmpty else { return }
    isChecking = true
    let batch = waiting
    waiting = []
    Task { @AutomergeRepo [weak self] in
      let isValid = await Self.check(batch.map(\.signature))
      self?.checked(batch, isValid)
    }
  }

  @concurrent
  private static func check(_ signatures: [ChangeSignature]) async -> [Bool] { signatures.map(\.isValid) }

  private func checked(_ batch: [(signature: ChangeSignature, peer: PeerId)], _ isValid: [Bool]) {
    isChecking = false
    guard let handle else { return }
    let judged = zip(batch, isValid)
    for peer in Set(judged.filter { !$0.1 }.map(\.0.peer)).sorted() {
      handle.repo?.complain(of: peer, "brought invalid signatures of changes of \(handle.id)")
    }
    let held = judged.filter(\.1).map(\.0)
    for peer in Set(held.map(\.peer)).sorted() {
      take(
        book.take(held.filter { $0.peer == peer }.map(\.signature)) { handle.document.authorship(of: $0) }, from: peer)
    }
    checkNext()
  }

  private func settle() {
    guard let handle, !book.awaited.isEmpty else { return }
    take(book.settle { handle.document.authorship(of: $0) }, from: nil)
  }

  /// Stores signatures that were just proven, and passes them on to the peers that do not hear the sender themselves.
  private func take(_ news: [ChangeSignature], from peer: PeerId?) {
    guard let handle, !news.isEmpty else { return }
    unstored.formUnion(news.map(\.actor))
    handle.repo?.upkeep.used(handle.id)
    let listeners = peer.map { handle.reports.listeners(to: $0, via: $0) } ?? handle.peers
    for listener in listeners { handle.repo?.connections.send(news, on: handle.id, to: listener) }
    storeSoon()
  }

  /// Takes over the signatures of the document that this one is a copy of.
  func adopt(_ other: DocumentSignatures) {
    guard let handle else { return }
    take(book.take(Array(other.book.proven.values)) { handle.document.authorship(of: $0) }, from: nil)
  }

  // MARK: The store

  var isStored: Bool { unstored.isEmpty }

  func load(_ items: [StoredItem]) {
    let signatures = items.compactMap { ChangeSignature(encoded: $0.data) }
    book = SignatureBook(stored: signatures)
    storedNumbers = book.proven.mapValues(\.number)
  }

  /// Stores new signatures together a little later. If the process dies first, peers send them again.
  private func storeSoon() {
    guard storing == nil, let clock = handle?.repo?.clock else { return }
    storing = clock.schedule(after: Self.storeDelay) { [weak self] in
      self?.storing = nil
      Task { @AutomergeRepo in
        do throws(StorageError) {
          try await self?.store()
        } catch {
          self?.handle?.repo?.logger.debug("Signatures were not stored: \(error)")
        }
      }
    }
  }

  /// Returns when every signature is stored.
  func store() async throws(StorageError) {
    guard let handle, let storage = handle.repo?.storage, !unstored.isEmpty else { return }
    let actors = unstored
    var changes: [StorageChange] = [], numbers: [ActorId: Int] = [:]
    for actor in actors.sorted() {
      if let old = storedNumbers[actor], old != book.proven[actor]?.number {
        changes.append(.remove(StoredSignatures.key(handle.id, actor, old)))
      }
      guard let signature = book.proven[actor] else { continue }
      changes.append(
        .save(StoredItem(key: StoredSignatures.key(handle.id, actor, signature.number), data: signature.encoded)))
      numbers[actor] = signature.number
    }
    try await storage.commit(changes)
    storedNumbers.merge(numbers) { $1 }
    // There may be newer ones by now.
    unstored.subtract(actors.filter { book.proven[$0]?.number == numbers[$0] })
    if !unstored.isEmpty { storeSoon() }
  }
}

/// The signatures of a document in a store: one row per actor, beside the document's chunks.
enum StoredSignatures {
  /// The second component of their keys.
  static let name = "signed"

  static func prefix(_ id: DocumentId) -> StorageKey { [id.description, name] }

  static func key(_ id: DocumentId, _ actor: ActorId, _ number: Int) -> StorageKey {
    prefix(id) + [actor.hexadecimal, String(number)]
  }
}
