import AutomergeRepo
import PeerTransport

/// A connection to a peer that has proved that it knows the passcode.
public struct PeerConnectionInfo: Hashable, Sendable, Identifiable {
  public let peerId: PeerId
  public let peerMetadata: PeerMetadata
  /// The other end; nil if unknown.
  public let endpoint: PeerAddress?
  /// Whether we called.
  public let initiated: Bool

  public var id: PeerId { peerId }
}

extension PeerConnectionInfo: Comparable {
  /// By peer id.
  public static func < (left: PeerConnectionInfo, right: PeerConnectionInfo) -> Bool { left.peerId < right.peerId }
}

extension PeerConnectionInfo: CustomStringConvertible {
  /// Which side called, and the peer: “-> peer (name)” if we called.
  public var description: String {
    let name = peerMetadata.name.map { " (\($0))" } ?? ""
    return "\(initiated ? "->" : "<-") \(peerId)\(name)"
  }
}
