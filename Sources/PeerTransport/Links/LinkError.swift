/// Why a link has ended, or was not established.
package enum LinkError: Error, Hashable {
  case insecure(TLSError)
  case handshake(HandshakeError)
  /// The connection broke, or this side gave it up. The reason can be shown to a person.
  case lost(reason: String)
  case tooManyConnections
  case stopped
}

extension PeerNetworkError {
  package init(_ error: LinkError, at address: PeerAddress) {
    self =
      switch error {
      case .insecure(let error): .insecure(error)
      case .handshake(let error): .handshake(error)
      case .lost(let reason): .unreachable(address, reason: reason)
      case .tooManyConnections: .tooManyConnections
      case .stopped: .stopped
      }
  }
}
