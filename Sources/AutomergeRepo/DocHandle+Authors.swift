import Automerge

/// Exchanges with each peer which actors it and we write as in this document.
extension DocHandle {
  /// Peers that have brought changes which their author denies, or changes in our own actor's name.
  public var forgers: Set<PeerId> { sync.authorship.forgers }

  /// Whether a peer on the document now claims to write as this actor.
  public func isWritten(by actor: ActorId) -> Bool {
    sync.peers.contains { sync.authorship.actors(of: $0).contains(actor) }
  }

  /// The actors that we tell a peer we write as: our own, and those of our other processes that the peer reaches through us.
  private func actorsToTell(_ peer: PeerId) -> Set<ActorId> {
    guard let repo else { return [] }
    var actors: Set<ActorId> = []
    if repo.fits(document.actor, repo.peerId) { actors.insert(document.actor) }
    for sibling in repo.siblings where sibling != peer { actors.formUnion(sync.authorship.actors(of: sibling)) }
    return actors
  }

  /// Sends each peer on the document our actors, if they have changed since we last told it.
  func tellAuthors() {
    guard let repo, sync.phase == .ready else { return }
    let peers = sync.peers
    authorsTold = authorsTold.filter { peers.contains($0.key) }
    for peer in peers {
      let actors = actorsToTell(peer)
      let told = authorsTold[peer]
      guard told != actors else { continue }
      authorsTold[peer] = actors
      repo.send(actors, on: id, to: peer, asks: told == nil)
    }
  }

  /// Takes a peer's claim of the actors it writes as here.
  func heard(_ actors: Set<ActorId>, from peer: PeerId, asks: Bool) {
    guard let repo, sync.linkedPeers.contains(peer) else { return }
    let fitting = actors.filter { repo.fits($0, peer) }
    if fitting.count < actors.count { repo.complain(of: peer, "says that it writes \(id) as somebody else") }
    receive(.authorship(.claimed(fitting, by: peer)))
    if repo.isSibling(peer) { tellAuthors() }
    if asks {
      let own = actorsToTell(peer)
      authorsTold[peer] = own
      repo.send(own, on: id, to: peer, asks: false)
    }
  }

  /// Withdraws our claims when this process stops writing here.
  func withdrawAuthors() {
    for (peer, actors) in authorsTold where !actors.isEmpty { repo?.send([], on: id, to: peer, asks: false) }
    authorsTold = [:]
  }

  func perform(_ effect: Authorship.Effect) {
    switch effect {
    case .startTimer:
      repo?.clock.schedule(after: Authorship.tickInterval) { [weak self] in
        self?.receive(.authorship(.ticked))
      }
    case .ask(let author, let changes): repo?.ask(author, about: changes, on: id)
    case .refusedClaim(let peer): repo?.complain(of: peer, "says that it writes \(id) as somebody else")
    case .forged(let peer, let author):
      let name = author.map { "of \($0)" } ?? "that is ours"
      repo?.complain(of: peer, "brought changes of \(id) in a name \(name), who did not make them; they are not taken")
      deliver(.forgedChanges(from: peer, author: author))
    case .wantAgain, .settled: break
    }
  }
}
