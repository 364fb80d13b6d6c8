/// A peer that is here, that was met, or with which something is shared.
public struct PeerSummary: Sendable {
  /// This person's relation to a peer.
  public enum State: String, Hashable, Sendable {
    /// On the local network, and nothing more.
    case nearby
    /// One of the two has invited the other, without an answer yet.
    case invitationPending
    case connected
    /// It has declined this person's last invitation.
    case rejected
    case blocked
    /// Met before, or something is shared, but not connected now.
    case known
  }

  public var peer: PeerId
  public var name: String
  public var fingerprint: String
  public var state: State
  /// Whether there is a link to the peer, whatever else `state` says.
  public var isConnected: Bool
  /// The address of the connection, or one where the peer may be found.
  public var via: String
  /// What is shared with the peer, and its access.
  public var notes: [(document: DocumentId, access: Access)]

  public init(
    peer: PeerId, name: String, fingerprint: String, state: State, isConnected: Bool, via: String,
    notes: [(document: DocumentId, access: Access)]
  ) {
    (self.peer, self.name, self.fingerprint) = (peer, name, fingerprint)
    (self.state, self.isConnected, self.via, self.notes) = (state, isConnected, via, notes)
  }
}
