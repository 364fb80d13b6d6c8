import AutomergeRepo

/// The connected peers, and messages to them: the repo as the parts of the directory see it.
@AutomergeRepo
protocol PeerMessaging: AnyObject {
  nonisolated var peerId: PeerId { get }
  /// How we introduce ourselves.
  var metadata: PeerMetadata { get }
  var clock: any RepoClock { get }
  /// The connected peers, and how they introduced themselves.
  var peers: [PeerId: PeerMetadata] { get }

  func send(type: String, fields: [String: CBOR], to peer: PeerId)
  /// Logs what a peer did wrong.
  func complain(of peer: PeerId, _ what: String)
}

extension Repo: PeerMessaging {}
