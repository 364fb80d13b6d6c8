import AutomergeRepo

/// Why an invitation, or an answer to one, failed.
public enum InvitationError: Error, Hashable, Sendable {
  /// The invitation does not exist, or no longer does.
  case unknown
  /// This person has blocked the peer.
  case blocked
  case unreachable(name: String, reason: String)
  /// The other side refuses the invitation: it may have blocked us, or have too many.
  case notTaken(name: String)
  /// The other person has accepted or invited, but does not confirm.
  case timedOut(name: String)
  /// The document is already here from elsewhere: nothing has changed.
  case alreadyHere(DocumentId)
}
