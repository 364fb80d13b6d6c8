/// An event among the peers, for the person's news.
public enum SharingEvent: Hashable, Sendable {
  case online(PeerId, name: String)
  case offline(PeerId, name: String)
  /// A peer has joined a document by this person's ticket or invitation.
  case joined(PeerId, name: String, DocumentId)
  /// A peer has appeared on the local network, or has left it.
  case nearby(PeerId, name: String)
  case gone(PeerId, name: String)
  /// An invitation for this person has arrived, or was withdrawn.
  case invited(InvitationSummary)
  case withdrawn(InvitationSummary)
  /// The inviter has confirmed, late, an invitation that this person accepted: the document is shared from now on.
  case accepted(PeerId, name: String, DocumentId)
  case declined(PeerId, name: String, DocumentId)
  /// The invited person has accepted. This person now compares the digits.
  case toBeConfirmed(InvitationSummary)
  /// The host of a document has changed this person's access.
  case accessChanged(PeerId, name: String, DocumentId, Access)
  /// The host of a document no longer shares it with this person.
  case unshared(PeerId, name: String, DocumentId)
  /// A guest has stopped sharing a document of this person's.
  case gaveUp(PeerId, name: String, DocumentId)
  /// The named host has moved the document to another one without the removed guests, and this person with it.
  case moved(NoteMove, name: String)
  /// A peer offers a document that came here from another peer. Nothing has changed.
  case offeredAgain(PeerId, name: String, DocumentId)
  /// A peer that was never met began an invitation and left before the digits were shown.
  case brokeOff(PeerId, name: String)
  /// Several peers did that, so invitations from people who were never met are refused for an hour.
  case closedToStrangers
  /// A peer that was never met uses the name of one that was.
  case namesake(PeerId, name: String)
  /// The lists of people are out of date: a peer connected or left, which is not worth a message.
  case peersChanged
  /// Whether peers can reach us, a name, or what is shared has changed.
  case networkState
}
