import Automerge

/// Decides whether to believe changes that another peer than their author brings.
///
/// Each peer claims the actors it writes as. While an author is linked to us, we take a new change of its actors only if the
/// author brings it or confirms that it knows it. A change that another peer brings first is withheld:
///
///     withheld ──its author brings it────────────────────► taken
///        ├──its author confirms it───────────────────────► asked for again, and taken
///        ├──its author leaves, or stays silent───────────► asked for again, and taken: no author is left to ask
///        └──its author denies it twice───────────────────► forged: the peer that brought it is reported, once
///
/// Only the last withheld change of each peer and actor is kept: an actor's changes form a chain, so an author that knows one
/// knows all before it.
struct Authorship {
  /// How often withheld changes are looked at.
  static let tickInterval: Duration = .milliseconds(250)
  /// An author that does not answer for this many ticks counts as absent. Source: PeerProtocol.md, "Authors".
  static let silence = 6
  /// An author that denies a change is asked again after this many ticks: the change may be on its way to the author from
  /// another process of the same person.
  static let patience = 12
  /// At most this many actors per peer: one for each process of the person, and some to spare.
  static let maximumActors = 64
  private static let maximumAttestations = 64

  enum Event {
    /// A peer claims the actors it writes as. Replaces its earlier claim.
    case claimed(Set<ActorId>, by: PeerId)
    case left(PeerId)
    /// The relays that bring us a peer's changes while the peer itself sends us none; nil if it sends them itself.
    case relayed(PeerId, by: Set<PeerId>?)
    /// A message came from a peer.
    case heard(PeerId)
    /// The last change of each of these actors was left out of a peer's message. Only this process writes as `own`.
    case withheld([ActorId: ChangeHash], from: PeerId, own: ActorId)
    /// The document has these changes now.
    case arrived(Set<ChangeHash>)
    /// An author has confirmed some changes and denied others.
    case answered(known: Set<ChangeHash>, unknown: Set<ChangeHash>, by: PeerId)
    case ticked
  }

  enum Effect: Equatable {
    /// Answer with `ticked` after `tickInterval`.
    case startTimer
    /// Ask the author about these changes, and answer with `answered`.
    case ask(PeerId, [ChangeHash])
    /// Ask the peer to send the withheld changes again.
    case wantAgain(PeerId)
    /// No change of the peer is withheld any more.
    case settled(PeerId)
    /// The peer claims an actor that another peer writes as.
    case refusedClaim(PeerId)
    /// The peer brought a change that its author denies; `author` is nil if the change names our own actor.
    case forged(by: PeerId, author: PeerId?)
  }

  private struct Key: Hashable {
    let peer: PeerId
    let actor: ActorId
  }

  private struct Withheld {
    let hash: ChangeHash
    var tickCount = 0
    /// Its author has denied it once.
    var isDenied = false
    /// Its author has denied it twice, or it names our own actor.
    var isForged = false
  }

  /// Rises whenever `speaking` may have changed.
  private(set) var generation = 0
  private var claims: [PeerId: Set<ActorId>] = [:] { didSet { generation += 1 } }
  /// The relays of each author that sends us no changes itself.
  private var carriers: [PeerId: Set<PeerId>] = [:] { didSet { generation += 1 } }
  /// Authors that did not answer. Any message from one ends its absence.
  private var absent: Set<PeerId> = [] { didSet { generation += 1 } }
  private var withheld: [Key: Withheld] = [:]
  /// The last changes of each actor that its author has confirmed.
  private var attested: [ActorId: [ChangeHash]] = [:]
  private var isTicking = false
  /// Peers that have brought forged changes.
  private(set) var forgers: Set<PeerId> = []

  var withheldHashes: Set<ChangeHash> { Set(withheld.values.map(\.hash)) }
  var isWithholding: Bool { !withheld.isEmpty }
  func isWithholding(from peer: PeerId) -> Bool { withheld.contains { $0.key.peer == peer } }
  func actors(of peer: PeerId) -> Set<ActorId> { claims[peer] ?? [] }

  /// The actors whose changes we take only from their author, or once it confirms them: it is linked and answers.
  func speaking(for isWriter: (PeerId) -> Bool) -> Set<ActorId> {
    var actors: Set<ActorId> = []
    for (author, own) in claims where !absent.contains(author) && carriers[author, default: []].isEmpty {
      if isWriter(author) { actors.formUnion(own) }
    }
    return actors
  }

  /// Which changes in a peer's message we may take.
  ///
  /// - Parameter heads: the last heads of an author with write access; nil for any other peer
  func filter(for peer: PeerId, own: ActorId, heads: (PeerId) -> Set<ChangeHash>?) -> AuthorFilter {
    var known: [ActorId: Set<ChangeHash>] = [own: []]
    for (author, actors) in claims where author != peer && !absent.contains(author) && !carries(peer, author) {
      guard let heads = heads(author) else { continue }
      for actor in actors where actor != own { known[actor] = heads.union(attested[actor] ?? []) }
    }
    return AuthorFilter(attested: known)
  }

  /// Whether the peer is a relay of the author's.
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

  // MARK: Claims

  private mutating func claim(_ actors: Set<ActorId>, by peer: PeerId) -> [Effect] {
    absent.remove(peer)
    var taken: Set<ActorId> = []
    var effects: [Effect] = []
    for actor in actors.sorted().prefix(Authorship.maximumActors) {
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

  /// Stops withholding the changes of these actors: no author is left to ask.
  private mutating func release(_ actors: Set<ActorId>) -> [Effect] {
    guard !actors.isEmpty else { return [] }
    for actor in actors { attested[actor] = nil }
    let released = withheld.keys.filter { actors.contains($0.actor) }
    for key in released { withheld[key] = nil }
    return Set(released.map(\.peer)).sorted().map { .wantAgain($0) }
  }

  private func author(of actor: ActorId) -> PeerId? { claims.first { $0.value.contains(actor) }?.key }

  // MARK: Withheld changes

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
        attested[key.actor] = (attested[key.actor] ?? []).suffix(Self.maximumAttestations - 1) + [change.hash]
        effects.append(.wantAgain(key.peer))
      } else if unknown.contains(change.hash) {
        withheld[key]?.isDenied = true
        guard change.tickCount >= Self.patience else { continue }
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
      case Self.patience where change.isDenied: questions[author, default: []].append(change.hash)
      case Self.silence where !change.isDenied, Self.patience + Self.silence: silent.insert(author)
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
