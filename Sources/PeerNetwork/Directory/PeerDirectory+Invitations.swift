import AutomergeRepo

/// Inviting peers, and answering their invitations.
extension PeerDirectory {
  /// Invites a peer to a document. Returns when the invitation has arrived, with the digits to compare if the two meet
  /// for the first time. Then the document is sent only after both `confirm` and the other person's acceptance.
  public func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access = .write
  ) async throws(InvitationError) -> String? {
    try await invitations.invite(
      peer, to: document, title: title, access: access, id: random.bytes(InviteMessage.idByteCount),
      nonce: random.bytes(InviteMessage.nonceByteCount))
  }

  /// The invitations that this person can answer.
  public var receivedInvitations: [Invitations.Received] { invitations.received }

  /// Our invitations that wait for an answer, or for this person to compare the digits.
  public var sentInvitations: [Invitations.Sent] { invitations.sent }

  /// Confirms that the digits are equal: the two people have met, and the document is sent.
  public func confirm(_ invitation: [UInt8]) { invitations.confirm(invitation, areEqual: true) }

  /// Call if the digits differ: the document is not sent.
  public func refuse(_ invitation: [UInt8]) { invitations.confirm(invitation, areEqual: false) }

  /// The invitations that wait for this person, or for an answer to this person.
  public var invitationSummaries: [InvitationSummary] { invitations.summaries }

  /// Answers the invitation with this summary's id, or says whether the digits of one of ours are equal.
  public func answer(
    _ invitation: String, accepts: Bool, blocks: Bool
  ) async throws(InvitationError) -> DocumentId? {
    let id = InvitationSummary.id(invitation)
    guard sentInvitations.contains(where: { $0.id == id && $0.awaitsConfirmation }) else {
      return try await answer(id, accepts: accepts, blocks: blocks)
    }
    invitations.confirm(id, areEqual: accepts)
    return nil
  }

  /// Answers an invitation. After accepting, returns when the document may be opened.
  ///
  /// - Parameter blocks: whether to block the peer when declining
  /// - Returns: the document; nil after declining
  public func answer(
    _ id: [UInt8], accepts: Bool, blocks: Bool = false
  ) async throws(InvitationError) -> DocumentId? {
    guard blocks else { return try await invitations.answer(id, accepts: accepts) }
    guard let peer = receivedInvitations.first(where: { $0.id == id })?.peer else { throw .unknown }
    await trust.block(peer)
    return nil
  }
}
