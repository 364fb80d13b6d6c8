import AutomergeRepo
import PeerTransport

/// Where the connection to a server stands that is to be kept.
public enum WebSocketServerState: Hashable, Sendable {
  /// It is being called for the first time, or again at once.
  case connecting
  case connected(PeerId)
  /// The last call has failed, or the connection was lost. The server is called again after a while.
  case waiting(PeerNetworkError)
}
