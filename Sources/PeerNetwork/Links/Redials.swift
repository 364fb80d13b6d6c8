import AutomergeRepo
import PeerTransport

/// The connected peers that we redial because nothing arrives, each with the first call that succeeded.
struct Redials {
  /// The first call that succeeded, until its peer is known.
  private var links: [PeerId: PeerLink?] = [:]

  var isEmpty: Bool { links.isEmpty }

  func isUnderWay(to peer: PeerId) -> Bool { links[peer] != nil }

  /// Whether another call to a connected peer would help: the connection has stalled, and no other call has succeeded.
  @AutomergeRepo
  func isNeeded(for peer: PeerId, at now: Duration) -> Bool {
    guard let redial = links[peer] else { return false }
    guard let link = redial, link.isOpen else { return true }
    return now - link.openedAt > PeerHandshake.timeout / 2
  }

  mutating func begin(_ peer: PeerId) { links.updateValue(nil, forKey: peer) }

  mutating func gotThrough(_ link: PeerLink, to peer: PeerId) {
    if links[peer] != nil { links.updateValue(link, forKey: peer) }
  }

  mutating func end(_ peer: PeerId) { links.removeValue(forKey: peer) }
}
