import AutomergeRepo

/// The id under which a repo with a key is known by WebSocket, where it cannot prove the key: that id with a suffix, so that it
/// is not taken for proved.
struct PeerAlias: Sendable {
  private static let suffix = "/ws"

  /// The id that the repo and its messages use.
  let own: PeerId
  /// The id on the wire.
  let shown: PeerId

  init(_ local: PeerId) { (own, shown) = (local, PeerId(local.description + Self.suffix)) }

  func outgoing(_ message: RepoMessage) -> RepoMessage { message.exchanging(own, for: shown) }
  func incoming(_ message: RepoMessage) -> RepoMessage { message.exchanging(shown, for: own) }
}
