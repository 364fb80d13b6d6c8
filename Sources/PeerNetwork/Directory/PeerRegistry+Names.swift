import AutomergeRepo
import PeerTransport

/// The names and addresses of peers.
extension PeerRegistry {
  /// The name to show for a peer: if we have met, its stored name; else the one it claims, shortened, or the beginning of its
  /// id. A peer that claims the name of another peer that we have met is marked with its id.
  func name(of peer: PeerId) -> String {
    if let name = known[peer]?.name, hasMet(peer) { return name }
    guard let name = claimedName(of: peer).flatMap(ForeignWords.name) else { return String(peer.description.prefix(8)) }
    return strangersName(name, of: peer)
  }

  /// The same for a peer that claims this name beside its caret; nil if it is blocked.
  func name(of peer: PeerId, claiming claim: String) -> String? {
    guard !isBlocked(peer) else { return nil }
    if hasMet(peer) || claimedName(of: peer) != nil { return name(of: peer) }
    guard let claim = ForeignWords.name(claim) else { return name(of: peer) }
    return strangersName(claim, of: peer)
  }

  /// The name as shown for a peer that we have not met: marked if it belongs to another, or to our person, or if another peer
  /// here that we have not met uses it.
  private func strangersName(_ name: String, of peer: PeerId) -> String {
    let key = keys[name]
    let isOurs = peer.owner != network.peerId && network.metadata.name.map { keys[$0] } == key
    return isOurs || namesake(of: peer, called: name) != nil || isShared(key, by: peer)
      ? ForeignWords.marked(name, peer) : name
  }

  /// Whether another connected peer that we have not met uses a name.
  private func isShared(_ key: String, by peer: PeerId) -> Bool {
    network.peers.keys.contains { other in
      claimedName(of: other).map { keys[$0] } == key && other.owner != peer.owner && !hasMet(other) && !isBlocked(other)
    }
  }

  private func claimedName(of peer: PeerId) -> String? {
    hearsay.ownName(of: peer) ?? known[peer]?.name ?? network.peers[peer]?.name ?? nearby[peer]?.name
      ?? hearsay.name(of: peer)
  }

  /// The stored name of the person who writes as this author, if we have met; what other peers call them does not matter.
  ///
  /// - Complexity: O(n) in the known peers.
  func metName(ofAuthor author: [UInt8]) -> String? {
    known.first { peer, known in
      known.name != nil && (known.isPinned || isGranted(peer)) && Identity.author(of: peer) == author
    }?.value.name
  }

  /// The name as shown for a peer: marked if it belongs to another.
  func ownName(_ name: String, of peer: PeerId) -> String {
    namesake(of: peer, called: name) == nil ? name : ForeignWords.marked(name, peer)
  }

  /// The name under which a peer is pinned: as shown, so that one that belongs to another peer is stored with the mark.
  func nameToKeep(of peer: PeerId) -> String { network.peers[peer]?.name ?? name(of: peer) }

  /// Another peer that we have met under this name.
  private func namesake(of peer: PeerId, called name: String) -> PeerId? {
    let key = keys[name]
    return known.first { $0.value.nameKey == key && $0.key != peer && hasMet($0.key) }?.key
  }

  /// The peer met whose name this peer, which is not met, uses: the same person with another key, or another person.
  func namesake(of peer: PeerId) -> PeerId? {
    guard !hasMet(peer), !isBlocked(peer) else { return nil }
    return claimedName(of: peer).flatMap { namesake(of: peer, called: $0) }
  }

  /// Whether this peer's name is also used by another: by a peer that we have met, or by one that is here now.
  ///
  /// - Parameter inviters: peers that are here in that they have invited this person.
  func isNameShared(by peer: PeerId, inviters: [PeerId]) -> Bool {
    guard let name = claimedName(of: peer) else { return false }
    if namesake(of: peer, called: name) != nil { return true }
    guard hasMet(peer) else { return false }
    let key = keys[name]
    let present = Set(network.peers.keys).union(nearby.keys).union(inviters).subtracting([peer])
    return present.contains { other in
      claimedName(of: other).map { keys[$0] } == key && !isBlocked(other)
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

  /// The addresses that a connected peer names for itself.
  func namedAddresses(of peer: PeerId) -> [PeerAddress] { PeerRegistry.addresses(in: network.peers[peer]) }

  static func addresses(in metadata: PeerMetadata?) -> [PeerAddress] {
    let addresses = (metadata?.addresses ?? []).prefix(Ticket.maximumAddresses)
    return addresses.compactMap { PeerAddress($0) }.filter(\.isCallable)
  }
}
