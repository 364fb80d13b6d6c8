/// A peer that is nearby, that was met, or with which this person shares a note.
public struct PeerSummary: Sendable {
  /// This person's relation to a peer.
  public enum State: String, Hashable, Sendable {
    /// On the local network, but never met.
    case nearby
    /// One of the two people has invited the other and has no answer yet.
    case invitationPending
    case connected
    /// The peer has declined this person's last invitation.
    case rejected
    case blocked
    /// Met before, or sharing a note, but not connected now.
    case known
  }

  public var peer: PeerId
  public var name: String
  public var fingerprint: String
  public var state: State
  /// Whether there is a link to the peer, whatever `state` says.
  public var isConnected: Bool
  /// The address of the connection, or one where the peer may be reached.
  public var via: String
  /// The notes that are shared with the peer, and its access to each.
  public var notes: [(document: DocumentId, access: Access)]

  public init(
    peer: PeerId, name: String, fingerprint: String, state: State, isConnected: Bool, via: String,
    notes: [(document: DocumentId, access: Access)]
  ) {
    (self.peer, self.name, self.fingerprint) = (peer, name, fingerprint)
    (self.state, self.isConnected, self.via, self.notes) = (state, isConnected, via, notes)
  }
}
