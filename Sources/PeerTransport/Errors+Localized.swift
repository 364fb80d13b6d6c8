import Foundation

extension PeerNetworkError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TLSError: LocalizedError {
  public var errorDescription: String? { description }
}

extension HandshakeError: LocalizedError {
  public var errorDescription: String? { description }
}

extension HandshakeError: CustomStringConvertible {
  /// One clause that can be shown to a person.
  public var description: String {
    switch self {
    case .unexpectedMessage: "the peer sent a message out of turn"
    case .versionMismatch: "the peer speaks another version of the protocol"
    case .wrongPeer: "another peer answers there"
    case .ownPeerId: "this program has reached itself"
    case .unusablePeerId: "the peer has a name that cannot be used"
    case .timedOut: "the peer did not answer in time"
    case .refused(let reason): "the peer refused: \(reason)"
    }
  }
}

extension FrameError: LocalizedError {
  public var errorDescription: String? { "The other side sent a broken frame: \(self)" }
}
