import Automerge

/// Tells the peers on a document which links we keep there, so that relays can replace the others, and tells the peers
/// on idle links our heads now and then.
@AutomergeRepo
final class LinkReports {
  /// How long a document's peers must have stayed the same before each is told of them.
  /// Source: PeerProtocol.md, "Many peers".
  static let reportDelay: Duration = .milliseconds(200)
  /// How long nothing must have changed before peers on idle links are told our heads.
  static let quietDelay: Duration = .seconds(2)

  weak var handle: DocHandle?
  private var relays: Relays
  /// The peers whose changes we took when the reports were last compared.
  private var writers: [PeerId] = []
  /// What we have told each peer about our links; a new peer has no entry.
  private var told: [PeerId: Relays.Report] = [:]
  private var reportTimer: (any ScheduledAction)?
  private var quietTimer: (any ScheduledAction)?

  nonisolated init(_ document: DocumentId, local: PeerId) { relays = Relays(document: document, local: local) }

  /// Stops sending.
  func stop() {
    reportTimer?.cancel()
    quietTimer?.cancel()
  }

  // MARK: Hearing

  /// A peer has told us its links on this document.
  func heard(_ report: Relays.Report, from peer: PeerId) {
    guard let handle, handle.sync.linkedPeers.contains(peer) else { return }
    relays.heard(report, from: peer)
    if let repo = handle.repo {
      let isSilent = report.idle.contains(repo.peerId)
      handle.receive(.authorship(.relayed(peer, by: isSilent ? report.peers.subtracting(report.idle) : nil)))
    }
    refresh()
  }

  /// The peers to which we pass on a peer's message: those that receive it neither from its author nor from `via`.
  func listeners(to author: PeerId, via: PeerId) -> [PeerId] {
    guard let handle else { return [] }
    return handle.peers.filter { peer in
      peer != via && peer != author && !handle.isIdle(with: peer) && !relays.reaches(author, peer)
        && (via == author || !relays.reaches(via, peer))
    }
  }

  /// Whether the author sends us nothing itself, but this peer relays what it sends.
  func carries(_ peer: PeerId, _ author: PeerId) -> Bool { relays.carries(peer, author) }

  // MARK: Telling

  /// Call when the peers on the document, or their access, may have changed.
  ///
  /// - Parameter areSamePeers: whether the peers are the same, so that only their access is compared
  /// - Returns: whether anything has changed
  func refresh(areSamePeers: Bool) -> Bool {
    guard let handle, !areSamePeers || handle.sync.writers != writers else { return false }
    refresh()
    return true
  }

  private func refresh() {
    guard let handle else { return }
    let linked = Set(handle.peers)
    writers = handle.sync.writers
    relays.keep(linked)
    told = told.filter { linked.contains($0.key) }
    let idle = relays.idlePeers(linked: linked, writers: Set(writers))
    if idle != handle.idlePeers { handle.setIdle(idle) }
    guard reportTimer == nil, !peersToTell.isEmpty else { return }
    reportTimer = handle.repo?.clock.schedule(after: Self.reportDelay) { [weak self] in self?.sendReport() }
  }

  /// Our links, as we report them to peers. Empty if there is only one peer, since there is nothing to relay.
  private var report: Relays.Report {
    guard let handle, handle.peers.count > 1 else { return Relays.Report() }
    return Relays.Report(peers: Set(writers.prefix(Relays.maximumPeers)), idle: handle.idlePeers)
  }

  private var peersToTell: [PeerId] {
    let report = report
    return handle?.peers.filter { told[$0, default: Relays.Report()] != report } ?? []
  }

  private func sendReport() {
    reportTimer = nil
    guard let handle else { return }
    let report = report
    for peer in peersToTell {
      told[peer] = report
      handle.repo?.connections.send(.reach(report, on: handle.id), to: peer)
    }
  }

  /// Call when the document has changed: tells the peers on idle links our heads once nothing has changed for a while.
  func documentChanged() {
    guard let handle, !handle.idlePeers.isEmpty, quietTimer == nil, let repo = handle.repo else { return }
    let seen = handle.currentHeads
    quietTimer = repo.clock.schedule(after: Self.quietDelay) { [weak self] in
      guard let self, let handle = self.handle else { return }
      self.quietTimer = nil
      guard handle.currentHeads == seen else { return self.documentChanged() }
      for peer in handle.idlePeers { handle.repo?.connections.sendHeads(of: [(handle.id, seen)], to: peer) }
    }
  }
}
