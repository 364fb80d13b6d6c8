import AutomergeRepo
import PeerTransport

/// The state of the connection to a wanted server.
public enum WebSocketServerState: Hashable, Sendable {
  /// The provider is calling it, for the first time or again at once.
  case connecting
  case connected(PeerId)
  /// The last call has failed, or the connection was lost. The server is called again after a while, unless its retries are used up.
  case waiting(PeerNetworkError)

  /// Why there is no connection; nil while there is one, or while a first call is in progress.
  public var error: PeerNetworkError? {
    if case .waiting(let error) = self { error } else { nil }
  }
}
