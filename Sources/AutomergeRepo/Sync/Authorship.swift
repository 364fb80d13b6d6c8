import Automerge

/// Decides whose word counts for changes of a document that somebody other than their author brings.
///
/// Every peer says as which actors it writes. As long as it speaks to us, a new change of such an actor counts when the peer
/// brings it itself, or has said that it knows it. What others bring before is withheld:
///
///     withheld ──its author brings it────────────────────► taken
///        ├──its author says that it knows it─────────────► asked for again, and taken
///        ├──its author is gone, or silent for a while────► asked for again, and taken: nobody is there to ask
///        └──its author says twice that it does not───────► forged: whoever brought it is named, once
///
/// Of each peer and actor only the last change is remembered: an actor's changes are a chain, and whoever knows one knows
/// those before it.
struct Authorship {
  /// How often it is looked at what is withheld.
  static let tickInterval: Duration = .milliseconds(250)
  /// An author that has not answered after so many looks counts as absent. Source: PeerProtocol.md, "Authors".
  static let silence = 6
  /// One that does not know a change is asked once more after so many: it may be on its way from a process of the same person.
  static let patience = 12
  /// More than one person has processes.
  static let mostActors = 64
  private static let mostAttestations = 64

  enum Event {
    /// A peer says as whom it writes; takes the place of what it said before.
    case claimed(Set<ActorId>, by: PeerId)
    case left(PeerId)
    /// Those who carry to us what a peer writes, while it keeps silent itself; nil if it speaks to us.
    case relayed(PeerId, by: Set<PeerId>?)
    /// Something came from a peer.
    case heard(PeerId)
    /// The last change of each of these actors was left out of what a peer brought. Nobody but we write as `own`.
    case withheld([ActorId: ChangeHash], from: PeerId, own: ActorId)
    /// These are in the document now.
    case arrived(Set<ChangeHash>)
    /// An author has said of some changes whether it knows them.
    case answered(known: Set<ChangeHash>, unknown: Set<ChangeHash>, by: PeerId)
    case ticked
  }

  enum Effect: Equatable {
    /// To be answered with `ticked`, after `tickInterval`.
    case startTimer
    /// To be answered with `answered`.
    case ask(PeerId, [ChangeHash])
    /// What was left out of what the peer brought is wanted again.
    case wantAgain(PeerId)
    /// Nothing of what the peer brought is withheld any more.
    case settled(PeerId)
    /// The peer says that it writes as somebody else.
    case refusedClaim(PeerId)
    /// The peer brought a change that its author does not know; we are the author if it is nil.
    case forged(by: PeerId, author: PeerId?)
  }

  private struct Key: Hashable {
    let peer: PeerId
    let actor: ActorId
  }

  private struct Withheld {
    let hash: ChangeHash
    var tickCount = 0
    /// Its author has said that it does not know it.
    var isDenied = false
    /// It is no use to wait.
    var isForged = false
  }

  /// Rises whenever `speaking` may be another.
  private(set) var generation = 0
  private var claims: [PeerId: Set<ActorId>] = [:] { didSet { generation += 1 } }
  /// Of authors who keep silent, to whom they speak.
  private var carriers: [PeerId: Set<PeerId>] = [:] { didSet { generation += 1 } }
  /// They have not answered; whatever they say next shows that they are there.
  private var absent: Set<PeerId> = [] { didSet { generation += 1 } }
  private var withheld: [Key: Withheld] = [:]
  /// What authors have said that they know, the latest of each actor.
  private var attested: [ActorId: [ChangeHash]] = [:]
  private var isTicking = false
  /// Who has brought forged changes.
  private(set) var forgers: Set<PeerId> = []

  var withheldHashes: Set<ChangeHash> { Set(withheld.values.map(\.hash)) }
  var isWithholding: Bool { !withheld.isEmpty }
  func isWithholding(from peer: PeerId) -> Bool { withheld.contains { $0.key.peer == peer } }
  func actors(of peer: PeerId) -> Set<ActorId> { claims[peer] ?? [] }

  /// The actors of authors who are there to ask, and for whom nobody else is believed.
  func speaking(for isWriter: (PeerId) -> Bool) -> Set<ActorId> {
    var actors: Set<ActorId> = []
    for (author, own) in claims where !absent.contains(author) && carriers[author, default: []].isEmpty {
      if isWriter(author) { actors.formUnion(own) }
    }
    return actors
  }

  /// What of a peer's message counts.
  ///
  /// - Parameter heads: what an author whose changes we take has last said that it has; nil of others.
  func filter(for peer: PeerId, own: ActorId, heads: (PeerId) -> Set<ChangeHash>?) -> AuthorFilter {
    var known: [ActorId: Set<ChangeHash>] = [own: []]
    for (author, actors) in claims where author != peer && !absent.contains(author) && !carries(peer, author) {
      guard let heads = heads(author) else { continue }
      for actor in actors where actor != own { known[actor] = heads.union(attested[actor] ?? []) }
    }
    return AuthorFilter(attested: known)
  }

  /// Whether a peer speaks for an author, as this wishes.
  private func carries(_ peer: PeerId, _ author: PeerId) -> Bool { carriers[author]?.contains(peer) ?? false }

  mutating func receive(_ event: Event) -> [Effect] {
    switch event {
    case .claimed(let actors, let peer): return claim(actors, by: peer)
    case .left(let peer):
      withheld = withheld.filter { $0.key.peer != peer }
      carriers[peer] = nil
      absent.remove(peer)
      return release(claims.removeValue(forKey: peer) ?? [])
    case .relayed(let peer, let others):
      defer { carriers[peer] = others }
      return others == nil || others == carriers[peer] ? [] : release(actors(of: peer))
    case .heard(let peer):
      if absent.contains(peer) { absent.remove(peer) }
      return []
    case .withheld(let changes, let peer, let own): return withhold(changes, from: peer, own: own)
    case .arrived(let hashes): return arrived(hashes)
    case .answered(let known, let unknown, let author): return answered(known, unknown, by: author)
    case .ticked: return tick()
    }
  }

  // MARK: Who writes as whom

  private mutating func claim(_ actors: Set<ActorId>, by peer: PeerId) -> [Effect] {
    absent.remove(peer)
    var taken: Set<ActorId> = []
    var effects: [Effect] = []
    for actor in actors.sorted(by: { $0.description < $1.description }).prefix(Authorship.mostActors) {
      if claims.contains(where: { $0.key != peer && $0.value.contains(actor) }) {
        effects = [.refusedClaim(peer)]
      } else {
        taken.insert(actor)
      }
    }
    let withdrawn = self.actors(of: peer).subtracting(taken)
    claims[peer] = taken.isEmpty ? nil : taken
    return effects + release(withdrawn)
  }

  /// Nobody is there any more to ask about the changes of these actors.
  private mutating func release(_ actors: Set<ActorId>) -> [Effect] {
    guard !actors.isEmpty else { return [] }
    for actor in actors { attested[actor] = nil }
    let released = withheld.keys.filter { actors.contains($0.actor) }
    for key in released { withheld[key] = nil }
    return Set(released.map(\.peer)).sorted().map { .wantAgain($0) }
  }

  private func author(of actor: ActorId) -> PeerId? { claims.first { $0.value.contains(actor) }?.key }

  // MARK: What is withheld

  private mutating func withhold(_ changes: [ActorId: ChangeHash], from peer: PeerId, own: ActorId) -> [Effect] {
    var effects: [Effect] = []
    for (actor, hash) in changes {
      let key = Key(peer: peer, actor: actor)
      guard withheld[key]?.hash != hash else { continue }
      withheld[key] = Withheld(hash: hash, isForged: actor == own)
      if actor == own, forgers.insert(peer).inserted { effects.append(.forged(by: peer, author: nil)) }
    }
    return effects + startTicking()
  }

  private mutating func startTicking() -> [Effect] {
    guard !isTicking, withheld.contains(where: { !$0.value.isForged }) else { return [] }
    isTicking = true
    return [.startTimer]
  }

  private mutating func arrived(_ hashes: Set<ChangeHash>) -> [Effect] {
    let settled = withheld.filter { hashes.contains($0.value.hash) }.keys
    for key in settled { withheld[key] = nil }
    return Set(settled.map(\.peer)).filter { !isWithholding(from: $0) }.sorted().map { .settled($0) }
  }

  private mutating func answered(
    _ known: Set<ChangeHash>, _ unknown: Set<ChangeHash>, by author: PeerId
  ) -> [Effect] {
    absent.remove(author)
    let own = actors(of: author)
    var effects: [Effect] = []
    for (key, change) in withheld where own.contains(key.actor) && !change.isForged {
      if known.contains(change.hash) {
        withheld[key] = nil
        attested[key.actor] = (attested[key.actor] ?? []).suffix(Authorship.mostAttestations - 1) + [change.hash]
        effects.append(.wantAgain(key.peer))
      } else if unknown.contains(change.hash) {
        withheld[key]?.isDenied = true
        guard change.tickCount >= Authorship.patience else { continue }
        withheld[key]?.isForged = true
        if forgers.insert(key.peer).inserted { effects.append(.forged(by: key.peer, author: author)) }
      }
    }
    return effects
  }

  private mutating func tick() -> [Effect] {
    isTicking = false
    var questions: [PeerId: [ChangeHash]] = [:]
    var silent: Set<PeerId> = []
    for (key, change) in withheld where !change.isForged {
      guard let author = author(of: key.actor) else { continue }
      withheld[key]?.tickCount += 1
      switch change.tickCount + 1 {
      case 1: questions[author, default: []].append(change.hash)
      case Authorship.patience where change.isDenied: questions[author, default: []].append(change.hash)
      case Authorship.silence where !change.isDenied, Authorship.patience + Authorship.silence: silent.insert(author)
      default: break
      }
    }
    var effects = questions.sorted { $0.key < $1.key }.map { Effect.ask($0.key, Set($0.value).sorted()) }
    for author in silent.sorted() {
      absent.insert(author)
      effects += release(actors(of: author))
    }
    return effects + startTicking()
  }
}
