import AutomergeRepo
import PeerTransport

/// A connection to a peer that has shown the passcode.
public struct PeerConnectionInfo: Hashable, Sendable, Identifiable {
  public let peerId: PeerId
  public let peerMetadata: PeerMetadata
  /// The other end; nil if unknown.
  public let endpoint: PeerAddress?
  /// Whether we called.
  public let initiated: Bool

  public var id: PeerId { peerId }
}
