import AutomergeRepo

extension PeerDirectory {
  /// Our relation to a peer.
  public enum Standing: String, Hashable, Sendable {
    /// On the local network, and nothing more.
    case nearby
    /// One of the two has invited the other, without an answer yet.
    case invitationPending
    case connected
    /// It has declined our last invitation.
    case rejected
    /// Blocked by our person.
    case blocked
    /// Met before, or something is shared, but not connected now.
    case known
  }

  /// Announces us on the local network, at our listening port, and looks for peers there.
  public func startDiscovery() {
    guard discovery == nil else { return }
    let discovery = MulticastDiscovery(loop: provider.loop, clock: repo.clock, announcement: announcement)
    discovery.onChange = { [weak self] change in self?.discovered(change) }
    self.discovery = discovery
    discovery.start()
  }

  /// Watches this machine's network from now on.
  public func watchNetwork() {
    guard networkWatch == nil else { return }
    networkWatch = NetworkWatch(loop: provider.loop, clock: repo.clock) { [weak self] change in
      guard let self else { return }
      switch change {
      case .addresses:
        // Peers may have come into reach, or gone out of it.
        self.provider.addressesChanged()
        self.discovery?.addressesChanged()
        self.onEvent?(.networkChanged)
      case .other: self.provider.networkImproved()
      }
    }
  }

  /// Withdraws the announcement and stops looking.
  public func stopDiscovery() {
    discovery?.stop()
    discovery = nil
    networkWatch?.stop()
    networkWatch = nil
  }

  private var announcement: Announcement {
    Announcement(peer: repo.peerId, name: repo.metadata.name ?? "", port: listening?.port ?? 0)
  }

  /// Call when our name or port has changed.
  func announce() { discovery?.update(announcement) }

  /// Takes news from discovery. A peer with which something is shared is called, but not by all peers at the same moment.
  public func discovered(_ change: NearbyPeers.Change) {
    switch change {
    case .appeared(let peer):
      let isNew = nearby[peer.peer] == nil
      nearby[peer.peer] = peer
      callIfShared(peer)
      if isNew { say(.appeared(peer.peer, name: name(of: peer.peer)), of: peer.peer) }
      warnOfNamesake(peer.peer)
    case .changed(let peer):
      let oldName = name(of: peer.peer)
      nearby[peer.peer] = peer
      callIfShared(peer)
      if !isBlocked(peer.peer), !peer.addresses.isEmpty { movedPerhaps(peer) }
      if oldName != name(of: peer.peer) { say(.renamed(peer.peer, name: name(of: peer.peer)), of: peer.peer) }
    case .vanished(let peer, _):
      let name = name(of: peer)
      guard nearby.removeValue(forKey: peer) != nil else { return }
      say(.vanished(peer, name: name), of: peer)
    }
  }

  /// A connected peer was heard at another address: later calls go there, and the connection is pinged.
  private func movedPerhaps(_ nearby: NearbyPeers.Peer) {
    guard isCalled(nearby.peer), provider.isConnected(nearby.peer) else { return }
    provider.keepConnected(to: nearby.peer, at: addresses(of: nearby.peer))
    provider.doubt(nearby.peer, heardAt: nearby.addresses)
  }

  private func callIfShared(_ nearby: NearbyPeers.Peer) {
    let peer = nearby.peer
    guard isCalled(peer), !provider.isConnected(peer) else { return }
    // Of two peers that find each other, one mostly dials first.
    let pause = Duration.milliseconds(Int.random(in: 50...500, using: &random))
    _ = repo.clock.schedule(after: pause) { [weak self] in
      guard let self, let found = self.nearby[peer], self.isCalled(peer) else { return }
      self.provider.keepConnected(to: peer, at: self.addresses(of: peer))
      if !found.addresses.isEmpty { self.provider.callNow(peer) }
    }
  }

  func standing(with peer: PeerId) -> Standing {
    if isBlocked(peer) { return .blocked }
    let now = repo.clock.now
    if invitations.received(at: now).contains(where: { $0.peer == peer })
      || invitations.sent(at: now).contains(where: { $0.peer == peer })
    {
      return .invitationPending
    }
    if provider.isConnected(peer), isTrusted(peer) { return .connected }
    if rejecters.contains(peer) { return .rejected }
    if isTrusted(peer) { return .known }
    return nearby[peer] == nil && provider.isConnected(peer) ? .connected : .nearby
  }

  // MARK: Trust

  public enum Trust: Hashable, Sendable { case trusted, blocked, forgotten }

  func isBlocked(_ peer: PeerId) -> Bool { known[peer]?.isBlocked == true }

  /// Whether we have met: both people have said yes, or the peers share something.
  func isTrusted(_ peer: PeerId) -> Bool {
    guard !isBlocked(peer) else { return false }
    return known[peer]?.isPinned == true || grants.allPeers.contains(peer)
  }

  /// Whether the peer, known or not, or our person owes the other an answer.
  func isAwaited(_ peer: PeerId) -> Bool {
    pendingJoins.keys.contains { $0.host == peer } || invitations.isOpen(with: peer)
  }

  /// Whether our person has dealt with the peer itself. Another guest of the same host does not count: no digits were compared.
  func hasMet(_ peer: PeerId) -> Bool {
    isTrusted(peer) && (known[peer]?.isPinned == true || grants.isGranted(peer))
  }

  /// Stores our person's decision about a peer.
  ///
  /// A trusted peer needs no digits again. A blocked one gets no answers, and a forgotten one becomes a stranger; both lose all
  /// that was shared with them, as far as it has not been sent.
  public func setTrust(_ trust: Trust, of peer: PeerId, name: String? = nil) async throws(StorageError) {
    var entry = known[peer] ?? KnownPeer()
    if let name = name.flatMap(KnownPeer.clean) { entry.name = ownName(name, of: peer) }
    switch trust {
    case .trusted:
      (entry.isPinned, entry.isBlocked) = (true, false)
      known[peer] = entry
      provider.trust(peer)
      // Invitations that waited for our person to compare the digits.
      for sent in invitations.sent(at: repo.clock.now) where sent.peer == peer && sent.awaitsConfirmation {
        perform(invitations.confirm(sent.id, areEqual: true))
      }
      try await storage.saveRecord(entry.record, at: KnownPeer.prefix + [peer.description])
    case .blocked:
      (entry.isPinned, entry.isBlocked) = (false, true)
      known[peer] = entry
      try await end(with: peer)
      try await storage.saveRecord(entry.record, at: KnownPeer.prefix + [peer.description])
    case .forgotten:
      known[peer] = nil
      try await end(with: peer)
      try await storage.remove(KnownPeer.prefix + [peer.description])
    }
    rejecters.remove(peer)
    onEvent?(.networkChanged)
  }

  /// Revokes everything shared with a peer and hangs up.
  private func end(with peer: PeerId) async throws(StorageError) {
    perform(invitations.withdraw(from: peer, document: nil))
    invitations.drop(peer)
    let documents = grants.documents(for: peer).map(\.document)
    for document in documents { dismissGuests([peer], from: document) }
    // It still has the text of its tickets, and may return with another key.
    if book.void(redeemedBy: peer) {
      let record = book.record
      await keep { storage throws(StorageError) in
        try await storage.saveRecord(record, at: KnownPeer.ticketsKey)
      }
    }
    provider.forget(peer)
    provider.disconnect(peer)
    var failure: StorageError?
    for document in documents {
      do throws(StorageError) {
        try await grants.revoke(document, from: peer)
      } catch {
        failure = error
      }
      if joined[document]?.host == peer { hostEnded(document, host: peer) }
      repo.policyChanged(for: document)
      tellGuests(of: document)
    }
    // A forgotten host that comes back is a stranger, and the document is our own.
    for document in grants.forgetFormerHost(peer) {
      do throws(StorageError) {
        try await grants.storeJoined(document)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}
