/// A connected peer, as a share policy sees it.
public struct ConnectedPeer: Hashable, Sendable, Identifiable {
  public let id: PeerId
  /// What the peer says about itself, unproved.
  public let metadata: PeerMetadata
  /// What the peer has proved; nil if the network proves nothing.
  public let proof: PeerProof?

  public init(id: PeerId, metadata: PeerMetadata = PeerMetadata(), proof: PeerProof? = nil) {
    (self.id, self.metadata, self.proof) = (id, metadata, proof)
  }
}
