/// A connected peer, as a share policy sees it.
public struct ConnectedPeer: Hashable, Sendable, Identifiable {
  public let id: PeerId
  /// What it tells about itself. Nothing of it is proved.
  public let metadata: PeerMetadata
  /// What it has proved; nil if the network proves nothing.
  public let proof: PeerProof?

  public init(id: PeerId, metadata: PeerMetadata = PeerMetadata(), proof: PeerProof? = nil) {
    (self.id, self.metadata, self.proof) = (id, metadata, proof)
  }
}
