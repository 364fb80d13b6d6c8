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

extension PeerConnectionInfo: Comparable {
  /// By peer id.
  public static func < (left: PeerConnectionInfo, right: PeerConnectionInfo) -> Bool { left.peerId < right.peerId }
}

extension PeerConnectionInfo: CustomStringConvertible {
  /// Who called, and whom: “-> peer (name)” if we did.
  public var description: String {
    let name = peerMetadata.name.map { " (\($0))" } ?? ""
    return "\(initiated ? "->" : "<-") \(peerId)\(name)"
  }
}
