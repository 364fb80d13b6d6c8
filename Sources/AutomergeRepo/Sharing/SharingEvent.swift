/// An event among the peers to tell the person about.
public enum SharingEvent: Hashable, Sendable {
  case online(PeerId, name: String)
  case offline(PeerId, name: String)
  /// A ticket or an invitation of this person's has admitted a peer to a document.
  case joined(PeerId, name: String, DocumentId)
  /// A peer has appeared on the local network, or left it.
  case nearby(PeerId, name: String)
  case gone(PeerId, name: String)
  /// An invitation for this person has come, or was withdrawn.
  case invited(InvitationSummary)
  case withdrawn(InvitationSummary)
  /// The inviter has confirmed late an invitation that this person accepted: the document is shared with them now.
  case accepted(PeerId, name: String, DocumentId)
  case declined(PeerId, name: String, DocumentId)
  /// The invited person has accepted; this one is to compare the digits.
  case toBeConfirmed(InvitationSummary)
  /// The host of a document has changed this person's access.
  case accessChanged(PeerId, name: String, DocumentId, Access)
  /// The host of a document no longer shares it with this person.
  case unshared(PeerId, name: String, DocumentId)
  /// A guest that had a document from this person has let it go.
  case gaveUp(PeerId, name: String, DocumentId)
  /// The named host goes on in another document without the removed guests, and this person with it.
  case moved(NoteMove, name: String)
  /// A peer offers a document that is already here from elsewhere. Nothing has changed.
  case offeredAgain(PeerId, name: String, DocumentId)
  /// A peer not met began an invitation and left before the digits were shown.
  case brokeOff(PeerId, name: String)
  /// So many did that invitations from people not met are refused for an hour.
  case closedToStrangers
  /// A peer not met uses the name of a peer met.
  case namesake(PeerId, name: String)
  /// Refresh the lists of people: a peer came or went without being worth a line.
  case peersChanged
  /// Whether peers can reach us, a name, or what is shared has changed.
  case networkState
}
