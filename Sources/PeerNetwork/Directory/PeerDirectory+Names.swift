import AutomergeRepo

/// The names of peers, and the news of their coming and going.
extension PeerDirectory {
  /// The name to show for a peer: if we have met, its stored name; else the one it claims, shortened, or the beginning of its
  /// id. A peer that claims the name of another peer that we have met is marked with its id.
  public func name(of peer: PeerId) -> String {
    if let name = known[peer]?.name, hasMet(peer) { return name }
    guard let name = claimedName(of: peer).flatMap(ForeignWords.name) else { return String(peer.description.prefix(8)) }
    return ownName(name, of: peer)
  }

  /// The same for a peer that claims this name beside its caret; nil if it is blocked.
  public func name(of peer: PeerId, claiming claim: String) -> String? {
    guard !isBlocked(peer) else { return nil }
    if hasMet(peer) || claimedName(of: peer) != nil { return name(of: peer) }
    guard let claim = ForeignWords.name(claim) else { return name(of: peer) }
    return ownName(claim, of: peer)
  }

  private func claimedName(of peer: PeerId) -> String? {
    hearsay.ownName(of: peer) ?? known[peer]?.name ?? repo.peers[peer]?.name ?? nearby[peer]?.name
      ?? hearsay.name(of: peer)
  }

  /// The stored name of the person who writes as this author, if we have met; what other peers call them does not matter.
  /// O(people known).
  ///
  /// - Parameter author: the first `Identity.personByteCount` bytes of a fingerprint
  public func metName(ofAuthor author: [UInt8]) -> String? {
    known.first { peer, known in
      known.name != nil && (known.isPinned || grants.isGranted(peer)) && Identity.author(of: peer) == author
    }?.value.name
  }

  /// The name as shown for a peer: marked if it belongs to another.
  func ownName(_ name: String, of peer: PeerId) -> String {
    namesake(of: peer, called: name) == nil ? name : ForeignWords.marked(name, peer)
  }

  /// Another peer that we have met under this name.
  func namesake(of peer: PeerId, called name: String) -> PeerId? {
    let key = ForeignWords.key(of: name)
    return known.first { $0.value.nameKey == key && $0.key != peer && hasMet($0.key) }?.key
  }

  /// Warns when a peer not met uses the name of one met: the same person with another key, or another person.
  func warnOfNamesake(_ peer: PeerId) {
    guard !hasMet(peer), !isBlocked(peer),
      let owner = claimedName(of: peer).flatMap({ namesake(of: peer, called: $0) }),
      arrivals.allowsWarning(of: owner, at: repo.clock.now)
    else { return }
    onEvent?(.namesake(peer, name: name(of: owner)))
  }

  /// The digits by which two people can verify at any time that each has the other's true key; nil if the id is not a peer's.
  public func verificationCode(with peer: PeerId) -> String? {
    guard let own = Identity.fingerprint(of: repo.peerId), let other = Identity.fingerprint(of: peer) else {
      return nil
    }
    return VerificationCode.digits(own, other)
  }

  /// Whether this peer's name is also used by another: by a peer that we have met, or by one that is here now.
  public func isNameShared(by peer: PeerId) -> Bool {
    guard let name = claimedName(of: peer) else { return false }
    if namesake(of: peer, called: name) != nil { return true }
    guard hasMet(peer) else { return false }
    let key = ForeignWords.key(of: name)
    let present = Set(repo.peers.keys).union(nearby.keys).union(receivedInvitations.map(\.peer)).subtracting([peer])
    return present.contains { claimedName(of: $0).map(ForeignWords.key) == key && !isBlocked($0) }
  }

  /// Reports that a peer came or went, if our person has met it and has not been told too often. Lists of people are refreshed
  /// in any case.
  func say(_ event: Event, of peer: PeerId) {
    guard !isBlocked(peer) else { return }
    if hasMet(peer), arrivals.allows(peer, at: repo.clock.now) {
      onEvent?(event)
    } else if arrivals.beginPause() {
      _ = repo.clock.schedule(after: ArrivalLimit.pause) { [weak self] in
        self?.arrivals.endPause()
        self?.onEvent?(.peersChanged)
      }
    }
  }

  /// The addresses where a peer may be: announced now, used before, named by others. Announcements are not proved, so half of
  /// the places are for addresses where it was met.
  func addresses(of peer: PeerId) -> [PeerAddress] {
    let (heard, met) = (nearby[peer]?.addresses ?? [], known[peer]?.addresses ?? [])
    let half = Ticket.maximumAddresses / 2
    let ordered =
      heard.prefix(half) + met.prefix(half) + heard.dropFirst(half) + met.dropFirst(half) + hearsay.addresses(of: peer)
    var addresses: [PeerAddress] = []
    for address in ordered where !addresses.contains(address) { addresses.append(address) }
    return Array(addresses.prefix(Ticket.maximumAddresses))
  }

  /// The address that a connected peer names, or at which it was called.
  func provenAddresses(of peer: PeerId) -> [PeerAddress] {
    let own = PeerDirectory.addresses(in: repo.peers[peer])
    return [provider.dialledAddress(of: peer)].compactMap { $0.flatMap { own.contains($0) ? nil : $0 } } + own
  }
}
