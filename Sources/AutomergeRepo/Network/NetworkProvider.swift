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
/// At most one connection to a peer is reported at a time. The provider guarantees the peer's identity: it checks every
/// message's `senderId` before it delivers the message; only an `ephemeral` may have another peer as its author.
/// Providers.md shows how to write one, and `AutomergeRepoConformance` has the checks that it must pass.
@AutomergeRepo
public protocol NetworkProvider: AnyObject, Sendable {
  /// Starts to report to `delegate`, which the provider does not retain.
  func start(as local: LocalPeer, delegate: any NetworkDelegate)
  /// Sends a goodbye where the network has one, closes every connection and reports it gone.
  func stop()
  /// Sends in the same turn. A message to a peer that is not connected is dropped.
  func send(_ message: RepoMessage, to peer: PeerId)
  func disconnect(_ peer: PeerId)
  /// Whether to read more from a peer now. Until it may, the peer's messages wait, its pings included.
  func setReading(_ reads: Bool, from peer: PeerId)
  /// What a connected peer has proved, if the network can tell; called once, when the connection is reported.
  func proof(of peer: PeerId) -> PeerProof?
  /// Whether the provider's peers are processes of the same person on the same store: they have full access, and the
  /// person gets no news when they connect or leave.
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
  /// Many of the bytes that were sent to a peer have not left this machine, or all of them have. The repo tells a peer
  /// that does not read nothing new.
  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool)
}

extension NetworkDelegate {
  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {}
}
