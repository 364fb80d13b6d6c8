import AutomergeRepo
import PeerTransport

/// A peer that announces itself nearby. Nothing about it is proved until it is connected.
public struct AvailablePeer: Hashable, Sendable, Identifiable {
  public let peerId: PeerId
  public let name: String
  public let addresses: [PeerAddress]

  public var id: PeerId { peerId }
}

extension AvailablePeer: Comparable {
  /// By name, and by id if two have the same name.
  public static func < (left: AvailablePeer, right: AvailablePeer) -> Bool {
    (left.name, left.peerId) < (right.name, right.peerId)
  }
}

extension AvailablePeer: CustomDebugStringConvertible {
  public var debugDescription: String {
    "\(name) [\(peerId)] at \(addresses.map(\.description).joined(separator: ", "))"
  }
}
