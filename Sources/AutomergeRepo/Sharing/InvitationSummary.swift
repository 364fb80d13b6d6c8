/// An invitation from another person, or one of ours that has not been answered.
public struct InvitationSummary: Hashable, Sendable {
  public enum Direction: String, Sendable { case received, sent }

  public var invitation: String
  public var direction: Direction
  public var peer: PeerId
  public var name: String
  public var document: DocumentId
  /// The inviter's title; nil for our own.
  public var title: String?
  public var access: Access
  /// Six digits for both people to compare.
  public var code: String?
  /// Whether the other person has accepted, and this person still has to say whether the digits are equal.
  public var awaitsConfirmation: Bool
  /// Whether a person that was met under this name has another key than the sender of the invitation.
  public var isNameShared = false

  public init(
    invitation: String, direction: Direction, peer: PeerId, name: String, document: DocumentId, title: String?,
    access: Access, code: String?, awaitsConfirmation: Bool
  ) {
    (self.invitation, self.direction, self.peer, self.name) = (invitation, direction, peer, name)
    (self.document, self.title, self.access, self.code) = (document, title, access, code)
    self.awaitsConfirmation = awaitsConfirmation
  }
}
