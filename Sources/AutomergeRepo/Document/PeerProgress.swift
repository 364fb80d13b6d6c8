import Automerge

/// The document's heads when the repo last heard of a change, and which peers have all of them.
struct PeerProgress {
  struct Status: Equatable {
    var isEqual: Bool
    /// Whether the peer lacks something that is here, and refuses our changes.
    var refuses: Bool
  }

  private(set) var heads: Set<ChangeHash>
  /// How often the document has changed since it was loaded, and that number when each peer last had all of it.
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

  /// Compares the status of the peers on the document with the one recorded last.
  ///
  /// - Parameter current: the status of the peer of a link; called for all links after every message, so it copies none
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

  /// Records the status of the peers that are on the document now.
  mutating func note(_ links: [SyncLink], _ current: (Int) -> Status) {
    let present = links.indices.filter { !links[$0].isLacking }
    status = Dictionary(uniqueKeysWithValues: present.map { (links[$0].peer, current($0)) })
  }
}
