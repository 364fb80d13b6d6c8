import Foundation

extension PeerNetworkError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TLSError: LocalizedError {
  public var errorDescription: String? { description }
}

extension HandshakeError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .unexpectedMessage: "The other side sent a message out of turn."
    case .versionMismatch: "The other side speaks another version of the protocol."
    case .wrongPeer: "Another peer answers there."
    case .ownPeerId: "This program has reached itself."
    case .unusablePeerId: "The other side has a name that cannot be used."
    case .timedOut: "The other side has not introduced itself in time."
    case .refused(let reason): "The other side has refused: \(reason)"
    }
  }
}

extension FrameError: LocalizedError {
  public var errorDescription: String? { "The other side sent a broken frame: \(self)" }
}
