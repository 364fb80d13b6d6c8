import AutomergeRepo

/// The id that a repo with a key uses over WebSocket, where it cannot prove the key: its own id with a suffix, which
/// tells it from a proved one.
struct PeerAlias: Sendable {
  /// The id that the repo and its messages use.
  let own: PeerId
  /// The id on the wire.
  let shown: PeerId

  init(_ local: PeerId) { (own, shown) = (local, PeerId(local.description + PeerId.webSocketSuffix)) }

  func outgoing(_ message: RepoMessage) -> RepoMessage { message.exchanging(own, for: shown) }
  func incoming(_ message: RepoMessage) -> RepoMessage { message.exchanging(shown, for: own) }
}
