import AutomergeRepo
import PeerTransport

/// A server's decision about a caller, before the connection becomes a WebSocket.
public enum WebSocketAdmission: Hashable, Sendable {
  /// The caller has proved this; for the most part `.token`.
  case accept(PeerProof)
  /// The caller gets the status 401.
  case refuse

  /// Accepts a caller that has proved nothing, as a server for everyone does. It may use no peer id that belongs to a key.
  public static var open: WebSocketAdmission { .accept(.token("")) }
}
