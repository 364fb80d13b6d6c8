/// What a peer is to this person.
public enum PeerStanding: Sendable {
  /// A person that was met, or a server that was chosen.
  case met
  /// A fellow guest: another person's list says that something is shared with it.
  case introduced
  case stranger
}
