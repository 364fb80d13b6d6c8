import Automerge

/// Tells each peer on a document which actors we write as there, and keeps what the peers claim.
@AutomergeRepo
final class AuthorClaims {
  weak var handle: DocHandle?
  /// The actors that each peer knows us to write as.
  private var told: [PeerId: Set<ActorId>] = [:]
  /// Our own actor when the peers were last told.
  private var toldActor: ActorId?

  nonisolated init() {}

  /// The actors that we tell a peer we write as: our own, and those of our other processes that the peer reaches through us.
  private func actorsToTell(_ peer: PeerId, _ handle: DocHandle, _ repo: Repo) -> Set<ActorId> {
    var actors: Set<ActorId> = []
    if repo.sharing.fits(handle.document.actor, repo.peerId) { actors.insert(handle.document.actor) }
    for sibling in repo.siblings where sibling != peer {
      actors.formUnion(handle.sync.authorship.actors(of: sibling))
    }
    return actors
  }

  /// Call when the peers on the document, or our actor, may have changed.
  func refresh(peerCount: Int) {
    guard let handle, toldActor != handle.document.actor || told.count != peerCount else { return }
    toldActor = handle.document.actor
    tell()
  }

  /// Sends each peer on the document our actors, if they have changed since we last told it.
  func tell() {
    guard let handle, let repo = handle.repo, handle.sync.phase == .ready else { return }
    let peers = handle.peers
    told = told.filter { peers.contains($0.key) }
    for peer in peers {
      let actors = actorsToTell(peer, handle, repo)
      let last = told[peer]
      guard last != actors else { continue }
      told[peer] = actors
      repo.connections.send(.authors(actors, asks: last == nil, on: handle.id), to: peer)
    }
  }

  /// Records a peer's claim of the actors that it writes as here.
  func heard(_ actors: Set<ActorId>, from peer: PeerId, asks: Bool) {
    guard let handle, let repo = handle.repo, handle.sync.linkedPeers.contains(peer) else { return }
    let fitting = actors.filter { repo.sharing.fits($0, peer) }
    if fitting.count < actors.count { handle.complainOfClaim(by: peer) }
    handle.receive(.authorship(.claimed(fitting, by: peer)))
    if repo.connections.isSibling(peer) { tell() }
    if asks {
      let own = actorsToTell(peer, handle, repo)
      told[peer] = own
      repo.connections.send(.authors(own, asks: false, on: handle.id), to: peer)
    }
  }

  /// Withdraws our claims when this process stops writing here.
  func withdraw() {
    guard let handle else { return }
    for (peer, actors) in told where !actors.isEmpty {
      handle.repo?.connections.send(.authors([], asks: false, on: handle.id), to: peer)
    }
    told = [:]
  }
}

extension DocHandle {
  /// Peers that brought changes which their author denies, or changes in our own actor's name.
  public var forgers: Set<PeerId> { sync.authorship.forgers }

  /// Whether a peer on the document now claims to write as this actor.
  public func isWritten(by actor: ActorId) -> Bool {
    sync.peers.contains { sync.authorship.actors(of: $0).contains(actor) }
  }

  /// Logs a refused claim. A peer without a key claims in good faith what it cannot prove, and so does another process
  /// of ours that names its own siblings: their claims are refused too, but are no violation.
  fileprivate func complainOfClaim(by peer: PeerId) {
    guard let repo, !repo.connections.isSibling(peer) else { return }
    switch repo.connections[peer]?.proof {
    case .token, .address: break
    case .key, .sameUser, nil: repo.complain(of: peer, "claims an actor of another peer on \(id)")
    }
  }

  func perform(_ effect: Authorship.Effect) {
    switch effect {
    case .startTimer:
      repo?.clock.schedule(after: Authorship.tickInterval) { [weak self] in
        self?.receive(.authorship(.ticked))
      }
    case .ask(let author, let changes):
      repo?.connections.send(.vouchRequest(Set(changes.prefix(PrivateMessage.maximumChanges)), on: id), to: author)
    case .refusedClaim(let peer): complainOfClaim(by: peer)
    case .forged(let peer, let author):
      let name = author.map { "of \($0)" } ?? "that is ours"
      repo?.complain(
        of: peer, "brought changes of \(id) as an actor \(name), which did not make them; they are refused")
      deliver(.forgedChanges(from: peer, author: author))
    case .wantAgain, .settled: break
    }
  }
}
