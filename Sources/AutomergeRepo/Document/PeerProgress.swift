import Automerge

/// The document's heads when the repo last heard of a change, and which peers have all of them.
struct PeerProgress {
  struct Status: Equatable {
    var isEqual: Bool
    /// Whether the peer lacks something that is here, and refuses our changes.
    var refuses: Bool
    /// Whether the peer has changes that have not arrived.
    var isSending: Bool
  }

  /// How many peers that are gone are remembered, roughly: a peer without a key may use another id at each connection.
  static let maximumGone = 256

  private(set) var heads: Set<ChangeHash>
  /// How often the document has changed since it was loaded, and that number when each peer last had all of it.
  private var changeCount = 0
  private(set) var equalAt: [PeerId: Int] = [:]
  private var status: [PeerId: Status] = [:]
  /// How many changes each peer has that is sending them, as far as it has said.
  private(set) var totals: [PeerId: Int] = [:]

  init(heads: Set<ChangeHash>) { self.heads = heads }

  /// - Parameter source: the peer that sent the change, and so has it
  mutating func changed(to heads: Set<ChangeHash>, by source: PeerId? = nil) {
    self.heads = heads
    changeCount += 1
    if let source { equalAt[source, default: 0] += 1 }
  }

  /// How many times the document has changed since the peer had all of it, other than by the peer.
  func pendingCount(for peer: PeerId) -> Int { changeCount - (equalAt[peer] ?? 0) }

  /// How much of what a peer has is here, if it is sending: 0 to 99, and 0 if that is unknown.
  func percent(from peer: PeerId, of count: Int) -> Int? {
    guard status[peer]?.isSending == true else { return nil }
    return totals[peer].map { $0 == 0 ? 0 : min(99, count * 100 / $0) } ?? 0
  }

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
      let total = links[index].announced?.changeCount ?? links[index].shared.theirChangeCount
      totals[peer] = now.isSending ? total ?? totals[peer] : nil
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
    forgetGone()
  }

  /// Of too many peers that are gone, keeps the half that last had all of the document.
  private mutating func forgetGone() {
    if equalAt.count > status.count + Self.maximumGone {
      let gone = equalAt.filter { status[$0.key] == nil }.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
      for (peer, _) in gone.dropFirst(Self.maximumGone / 2) { equalAt[peer] = nil }
    }
    if totals.count > status.count + Self.maximumGone { totals = totals.filter { status[$0.key] != nil } }
  }
}
