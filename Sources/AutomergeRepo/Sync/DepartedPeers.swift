import Foundation

/// What was shared with the peers that have left a document, for when they return. Only the latest are kept: a peer
/// without a key may use another id at each connection.
struct DepartedPeers {
  static let maximumCount = 256

  /// As `SyncState.encode` encodes it.
  private var shared: [PeerId: Data] = [:]
  /// The last peer to leave comes last.
  private var order: [PeerId] = []

  var count: Int { order.count }

  func contains(_ peer: PeerId) -> Bool { shared[peer] != nil }

  mutating func add(_ peer: PeerId, shared data: Data) {
    _ = take(peer)
    if order.count == Self.maximumCount { shared[order.removeFirst()] = nil }
    shared[peer] = data
    order.append(peer)
  }

  /// Returns what was shared with a peer that has returned, and forgets it.
  mutating func take(_ peer: PeerId) -> Data? {
    guard let data = shared.removeValue(forKey: peer) else { return nil }
    order.removeAll { $0 == peer }
    return data
  }
}
