import AutomergeRepo
import PeerTransport

/// Keeps links to the peers that share something with us, at their present addresses.
@AutomergeRepo
final class LinkKeeper {
  private let links: any PeerLinking
  private let registry: PeerRegistry
  private let grants: Grants
  private let clock: any RepoClock

  init(_ links: any PeerLinking, _ registry: PeerRegistry, _ grants: Grants, clock: any RepoClock) {
    (self.links, self.registry, self.grants, self.clock) = (links, registry, grants, clock)
  }

  /// Starts to call the peers with which something is shared.
  func start() {
    for peer in grants.allPeers where isCalled(peer) {
      links.keepConnected(to: peer, at: registry.known[peer]?.addresses ?? [])
    }
  }

  /// Whether we keep a link to a peer: to every peer that shares something with us, and to as many other guests of our
  /// hosts as needed.
  func isCalled(_ peer: PeerId) -> Bool {
    guard !registry.isBlocked(peer) else { return false }
    return grants.isGranted(peer)
      || grants.introductions.contains { document, guests in
        guests[peer] != nil
          && Rendezvous.peersToCall(
            by: registry.network.peerId,
            among: Set(guests.keys).union([grants.host(of: document)].compactMap(\.self)), on: document
          ).contains(peer)
      }
  }

  /// Stores what is new about a peer, and keeps the peer connected.
  func remember(_ peer: PeerId, name: String?, addresses: [PeerAddress]) {
    links.keepConnected(to: peer, at: registry.remember(peer, name: name, addresses: addresses))
  }

  /// The same for a peer that may be only another guest of a host: keeps it connected unless other peers pass its
  /// changes on.
  func rememberTrusted(_ peer: PeerId, name: String?, addresses: [PeerAddress]) {
    let addresses = registry.remember(peer, name: name, addresses: addresses)
    if isCalled(peer) { links.keepConnected(to: peer, at: addresses) }
  }

  /// Pins a peer: both people have agreed, so the next meeting needs no digits. It may send long messages from now on.
  func pin(_ peer: PeerId) {
    registry.pin(peer)
    links.trust(peer)
  }

  /// Pins a peer after this person has compared the digits, and stores its name and the addresses where it was met.
  func pinMet(_ peer: PeerId) {
    let name = registry.nameToKeep(of: peer)
    pin(peer)
    let named = registry.namedAddresses(of: peer)
    let dialled = [links.dialledAddress(of: peer)].compactMap(\.self).filter { !named.contains($0) }
    remember(peer, name: name, addresses: dialled + named)
  }

  /// Lets a connected peer send long messages from now on.
  func trust(_ peer: PeerId) { links.trust(peer) }

  /// A host has introduced another of its guests.
  func introduced(_ guest: PeerId) {
    links.trust(guest)
    if isCalled(guest) { links.keepConnected(to: guest, at: registry.addresses(of: guest)) }
  }

  /// These peers have lost a document. Stops calling those with which nothing is shared any more.
  func release(_ peers: some Sequence<PeerId>) {
    for peer in peers where grants.documents(for: peer).isEmpty { links.forget(peer) }
  }

  /// The same, and ends the links to these peers.
  func hangUp(_ peers: some Sequence<PeerId>) {
    for peer in peers where grants.documents(for: peer).isEmpty {
      links.forget(peer)
      links.disconnect(peer)
    }
  }

  // MARK: Peers nearby

  /// Call when a peer was heard on the local network. Calls it after a pause if something is shared with it.
  ///
  /// - Parameter pause: random, so that usually one of two peers that find each other dials first
  func heard(_ peer: PeerId, callingAfter pause: Duration) {
    guard isCalled(peer), !links.isConnected(peer) else { return }
    _ = clock.schedule(after: pause) { [weak self] in
      guard let self, let found = self.registry.nearby[peer], self.isCalled(peer) else { return }
      self.links.keepConnected(to: peer, at: self.registry.addresses(of: peer))
      if !found.addresses.isEmpty { self.links.callNow(peer) }
    }
  }

  /// Call when a connected peer was heard at another address: later calls go there, and the link is pinged.
  func movedPerhaps(_ nearby: NearbyPeers.Peer) {
    guard !registry.isBlocked(nearby.peer), !nearby.addresses.isEmpty, isCalled(nearby.peer),
      links.isConnected(nearby.peer)
    else { return }
    links.keepConnected(to: nearby.peer, at: registry.addresses(of: nearby.peer))
    links.probe(nearby.peer, heardAt: nearby.addresses)
  }
}
