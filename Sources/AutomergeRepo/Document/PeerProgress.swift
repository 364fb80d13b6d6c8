import Automerge

/// The document's heads as the repo last heard of them, and which peers have all of them.
struct PeerProgress {
  struct Status: Equatable {
    var isEqual: Bool
    /// The peer lacks something that is here, and refuses our changes.
    var refuses: Bool
  }

  private(set) var heads: Set<ChangeHash>
  /// How often the document has changed in memory, and how often it had when each peer last had all of it.
  private var changeCount = 0
  private var equalAt: [PeerId: Int] = [:]
  private var status: [PeerId: Status] = [:]

  init(heads: Set<ChangeHash>) { self.heads = heads }

  mutating func changed(to heads: Set<ChangeHash>) {
    self.heads = heads
    changeCount += 1
  }

  /// How many times the document has changed since the peer had all of it, at least once.
  func pendingCount(for peer: PeerId) -> Int { max(1, changeCount - (equalAt[peer] ?? 0)) }

  /// Compares the peers on the document with what was known of them.
  ///
  /// - Parameter current: the status of the peer with a link; asked after every message for all links, so it copies none
  mutating func compare(
    _ links: [SyncLink], _ current: (Int) -> Status
  ) -> (peerCount: Int, areSamePeers: Bool, isSame: Bool) {
    var peerCount = 0, areSamePeers = true, isSame = true
    for index in links.indices where !links[index].isLacking {
      peerCount += 1
      let peer = links[index].peer, now = current(index), before = status[peer]
      if now.isEqual { equalAt[peer] = changeCount }
      if before == nil { areSamePeers = false }
      if before != now { isSame = false }
    }
    if peerCount != status.count { (areSamePeers, isSame) = (false, false) }
    return (peerCount, areSamePeers, isSame)
  }

  /// Takes down the status of the peers that are on the document now.
  mutating func note(_ links: [SyncLink], _ current: (Int) -> Status) {
    let present = links.indices.filter { !links[$0].isLacking }
    status = Dictionary(uniqueKeysWithValues: present.map { (links[$0].peer, current($0)) })
  }
}
