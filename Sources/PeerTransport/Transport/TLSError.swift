/// Why a connection is not, or no longer, encrypted.
public enum TLSError: Error, Hashable, Sendable {
  /// OpenSSL failed at an operation that every build of it supports.
  case unavailable(String)
  /// The other side does not speak TLS 1.3, has no certificate of our kind, or did not accept ours.
  case handshake(String)
  /// The peer proved a key other than the one we called.
  case wrongKey
  /// The other side speaks TLS, but not our protocol inside it.
  case otherProtocol
  /// The peer sent bytes that do not fit its keys, or closed the connection.
  case broken(String)
}

extension TLSError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unavailable(let reason): "encryption does not work here: \(reason)"
    case .handshake(let reason): "the encrypted connection could not be set up: \(reason)"
    case .wrongKey: "another peer answers there"
    case .otherProtocol: "what answers there is not notes-lsp"
    case .broken(let reason): "the encrypted connection broke: \(reason)"
    }
  }
}
