import AutomergeRepo
import PeerTransport

/// A peer that announces itself nearby. Nothing of it is proved until it is connected.
public struct AvailablePeer: Hashable, Sendable, Identifiable {
  public let peerId: PeerId
  public let name: String
  public let addresses: [PeerAddress]

  public var id: PeerId { peerId }
}
