/// How we introduce ourselves to peers.
public struct LocalPeer: Hashable, Sendable {
  public var peerId: PeerId
  public var metadata: PeerMetadata

  public init(peerId: PeerId, metadata: PeerMetadata = PeerMetadata()) {
    (self.peerId, self.metadata) = (peerId, metadata)
  }
}

/// Carries messages to and from peers, in order and without loss for as long as a connection lasts.
///
/// At most one connection to a peer is reported at a time. The provider answers for the peer's identity: it checks every
/// message's `senderId` before it delivers the message, and only the author of an `ephemeral` may be another peer.
/// Providers.md shows how to write one, and `AutomergeRepoConformance` has the checks that it must pass.
@AutomergeRepo
public protocol NetworkProvider: AnyObject, Sendable {
  /// Begins to report to `delegate`, which it does not retain.
  func start(as local: LocalPeer, delegate: any NetworkDelegate)
  /// Says goodbye where it can, closes every connection and reports them gone.
  func stop()
  /// Sends in the same turn. A message to a peer that is not connected is dropped.
  func send(_ message: RepoMessage, to peer: PeerId)
  func disconnect(_ peer: PeerId)
  /// Whether to read more from a peer now. Until then the peer has to wait, and its pings too.
  func setReading(_ reads: Bool, from peer: PeerId)
  /// What a connected peer has proved, if the network can tell; asked once, when the connection is reported.
  func proof(of peer: PeerId) -> PeerProof?
  /// Whether its peers are other processes of the same person on the same store: they have full access, and are not news to the
  /// person.
  var isSiblings: Bool { get }
}

extension NetworkProvider {
  public func setReading(_ reads: Bool, from peer: PeerId) {}
  public func proof(of peer: PeerId) -> PeerProof? { nil }
  public var isSiblings: Bool { false }
}

/// What a network provider reports.
@AutomergeRepo
public protocol NetworkDelegate: AnyObject, Sendable {
  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata)
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId)
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId)
  /// Much of what was sent to a peer has not left this machine, or all of it has. A peer that does not read need not be told
  /// more.
  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool)
}

extension NetworkDelegate {
  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {}
}
