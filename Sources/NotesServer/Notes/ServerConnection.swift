import AutomergeRepo

/// The state of the connection to a server that is kept connected.
public struct ServerConnection: Hashable, Sendable {
  /// The server's peer id.
  public var peer: PeerId
  public var isConnected: Bool
  /// Why the last call failed, as part of a sentence; nil if it succeeded, or is still in progress.
  public var problem: String?

  /// As requests name it.
  var state: String { isConnected ? "connected" : "waiting" }

  public init(peer: PeerId, isConnected: Bool, problem: String?) {
    (self.peer, self.isConnected, self.problem) = (peer, isConnected, problem)
  }
}
