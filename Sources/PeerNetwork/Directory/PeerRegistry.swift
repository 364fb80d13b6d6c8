import AutomergeRepo
import PeerTransport

/// All knowledge about peers: stored data, announcements nearby, and claims. Decides which peers this person trusts;
/// its extension decides under which names and addresses peers are known.
@AutomergeRepo
final class PeerRegistry {
  let grants: Grants
  private let store: PeerStore
  let network: any PeerMessaging
  /// The peers that are stored, by their ids.
  private(set) var known: [PeerId: KnownPeer] = [:]
  /// The peers whose data has changed since it was last given to the store, and those whose data is being stored.
  private var unsaved: Set<PeerId> = []
  private(set) var saving: Set<PeerId> = []
  /// The peers that announce themselves on the local network. None of these claims is proved.
  private(set) var nearby: [PeerId: NearbyPeers.Peer] = [:]
  /// The claims of peers about themselves and about each other.
  private(set) var hearsay = Hearsay()
  /// The keys by which names are compared.
  let keys = NameKeys()

  /// Reads the stored peers.
  static func load(
    from store: PeerStore, grants: Grants, network: any PeerMessaging
  ) async throws(StorageError) -> PeerRegistry {
    let registry = PeerRegistry(store: store, grants: grants, network: network)
    for (key, record) in try await store.storage.records(under: KnownPeer.prefix) {
      if let text = key.last { registry.known[PeerId(text)] = KnownPeer(record: record) }
    }
    return registry
  }

  private init(store: PeerStore, grants: Grants, network: any PeerMessaging) {
    (self.store, self.grants, self.network) = (store, grants, network)
  }

  // MARK: Trust

  func isBlocked(_ peer: PeerId) -> Bool { known[peer]?.isBlocked == true }

  /// Whether this person or a host has let the peer in: both people have said yes, or the peers share something.
  func isTrusted(_ peer: PeerId) -> Bool {
    guard !isBlocked(peer) else { return false }
    return isPinned(peer) || grants.allPeers.contains(peer)
  }

  /// Whether this person dealt with the peer itself. Another guest of the same host does not count: no digits were compared.
  func hasMet(_ peer: PeerId) -> Bool { isTrusted(peer) && (isPinned(peer) || isGranted(peer)) }

  func isPinned(_ peer: PeerId) -> Bool { known[peer]?.isPinned == true }

  /// Whether something is shared with the peer other than as a fellow guest.
  func isGranted(_ peer: PeerId) -> Bool { grants.isGranted(peer) }

  /// The host whose lists alone make a peer trusted; nil for a stranger, and for a peer with which this person dealt itself.
  func introducer(of peer: PeerId) -> PeerId? {
    guard !isPinned(peer), !isGranted(peer) else { return nil }
    return grants.introductions.compactMap { $0.value[peer] == nil ? nil : grants.host(of: $0.key) }.min()
  }

  /// The peers about which this person has decided, connected or not.
  var decided: [PeerId] { known.filter { $0.value.isPinned || $0.value.isBlocked }.map(\.key) }

  /// Pins a peer, in memory; `remember` makes it last. No digits next time.
  func pin(_ peer: PeerId) {
    if !isPinned(peer) { unsaved.insert(peer) }
    known[peer, default: KnownPeer()].isPinned = true
  }

  /// Applies this person's decision about a peer, in memory.
  ///
  /// - Returns: what `save` is to store of the peer from now on.
  func decide(_ trust: PeerTrust, about peer: PeerId, name: String?) -> KnownPeer? {
    var entry = known[peer] ?? KnownPeer()
    if let name = name.flatMap(KnownPeer.clean) { entry.name = ownName(name, of: peer) }
    switch trust {
    case .trusted: (entry.isPinned, entry.isBlocked) = (true, false)
    case .blocked: (entry.isPinned, entry.isBlocked) = (false, true)
    case .forgotten:
      known[peer] = nil
      return nil
    }
    known[peer] = entry
    return entry
  }

  /// Stores the data about a peer; nil removes it.
  func save(_ entry: KnownPeer?, of peer: PeerId) async throws(StorageError) {
    let key = KnownPeer.prefix + [peer.description]
    if let entry {
      try await store.storage.saveRecord(entry.record, at: key)
    } else {
      try await store.storage.remove(key)
    }
  }

  // MARK: Known peers

  /// Records what is new about a peer.
  ///
  /// - Returns: where to call the peer from now on.
  func remember(_ peer: PeerId, name: String?, addresses: [PeerAddress]) -> [PeerAddress] {
    var entry = known[peer] ?? KnownPeer()
    if let name = name.flatMap(KnownPeer.clean) { entry.name = ownName(name, of: peer) }
    // The newest first; a few of the older ones may still be right.
    let older = entry.addresses.filter { !addresses.contains($0) }
    entry.addresses = Array((addresses + older).prefix(Ticket.maximumAddresses))
    if known[peer] != entry { unsaved.insert(peer) }
    known[peer] = entry
    saveSoon(peer)
    return entry.addresses
  }

  /// Stores what has changed about a peer. However often a peer renames itself, one write of it at a time waits for the
  /// store, and the next one has what is known then.
  private func saveSoon(_ peer: PeerId) {
    guard unsaved.contains(peer), saving.insert(peer).inserted else { return }
    Task {
      while unsaved.remove(peer) != nil, let record = known[peer]?.record {
        let isStored = await store.keep { storage throws(StorageError) in
          try await storage.saveRecord(record, at: KnownPeer.prefix + [peer.description])
        }
        guard isStored else {
          unsaved.insert(peer)
          break
        }
      }
      saving.remove(peer)
    }
  }

  /// Forgets these peers, which no host lists any more, except those about which this person has decided.
  func forgetUnlisted(_ peers: Set<PeerId>) {
    let gone = peers.filter { known[$0].map { !$0.isPinned && !$0.isBlocked } ?? false }
    guard !gone.isEmpty else { return }
    for peer in gone { known[peer] = nil }
    store.keepSoon { storage throws(StorageError) in
      for peer in gone { try await storage.remove(KnownPeer.prefix + [peer.description]) }
    }
  }

  /// Forgets what is in memory about a stranger that has gone.
  func dropStranger(_ peer: PeerId) {
    known[peer] = nil
    hearsay.forget(peer)
  }

  // MARK: What is heard

  /// Call when a peer is heard on the local network.
  ///
  /// - Returns: whether it was not heard before.
  func heard(_ peer: NearbyPeers.Peer) -> Bool { nearby.updateValue(peer, forKey: peer.peer) == nil }

  /// Call when a peer is no longer heard. False if it was not heard before either.
  func lost(_ peer: PeerId) -> Bool { nearby.removeValue(forKey: peer) != nil }

  /// Call when a peer that we have not met claims this name.
  func claims(_ name: String, by peer: PeerId) { hearsay.note(name, of: peer) }

  /// Call when a host has sent this list of guests.
  func listed(_ guests: GuestList) { hearsay.take(guests) }
}
