import AutomergeRepo

/// Why an invitation, or an answer to one, failed.
public enum InvitationError: Error, Hashable, Sendable {
  /// The invitation does not exist, or no longer.
  case unknown
  /// Our person has blocked the peer.
  case blocked
  case unreachable(name: String, reason: String)
  /// The other side does not answer: it may have blocked us, or have too many invitations.
  case timedOut(name: String)
  /// The document is already here from elsewhere: nothing has changed.
  case alreadyHere(DocumentId)
}

/// A caller that waits for the next step of an invitation.
struct PendingInvitation {
  /// The time limit for the other machine.
  static let deliveryTimeout: Duration = .seconds(10)
  /// How long the other person may take to compare the digits before ours, who has accepted, is told to wait.
  static let grantTimeout: Duration = .seconds(60)

  let reply: OneReply<Bool>
  let timer: any ScheduledAction
}

extension PeerDirectory {
  // MARK: Inviting

  /// Invites a peer to a document. Returns when the invitation has arrived, with the digits to compare if the two meet for the
  /// first time. The document is then sent only after `confirm` as well as the other's yes.
  public func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access = .write
  ) async throws(InvitationError) -> String? {
    guard !registry.isBlocked(peer) else { throw .blocked }
    try await reach(peer)
    rejecters.remove(peer)
    let id = random.bytes(InviteMessage.idByteCount)
    let nonce = random.bytes(InviteMessage.nonceByteCount)
    let effects = invitations.invite(
      peer, to: document, title: title, access: access, name: repo.metadata.name ?? "", id: id, nonce: nonce,
      knowsInvited: registry.hasMet(peer), at: repo.clock.now)
    guard await wait(for: id, PendingInvitation.deliveryTimeout, after: { self.perform(effects) }) else {
      invitations.forget(id)
      throw .timedOut(name: name(of: peer))
    }
    return invitations.sent(at: repo.clock.now).first { $0.id == id }?.code
  }

  /// The invitations that our person may answer.
  public var receivedInvitations: [Invitations.Received] { invitations.received(at: repo.clock.now) }

  /// Our invitations that wait for an answer, or for our person to compare the digits.
  public var sentInvitations: [Invitations.Sent] { invitations.sent(at: repo.clock.now) }

  /// Our person confirms that the digits are equal: the two have met, and the document is sent.
  public func confirm(_ invitation: [UInt8]) { perform(invitations.confirm(invitation, areEqual: true)) }

  /// The digits differ: the document is not sent.
  public func refuse(_ invitation: [UInt8]) { perform(invitations.confirm(invitation, areEqual: false)) }

  // MARK: Answering

  /// Answers an invitation. After a yes it returns when the document may be opened.
  ///
  /// - Parameter blocks: with a no, blocks the peer.
  /// - Returns: the document, nil after a no.
  public func answer(
    _ id: [UInt8], accepts: Bool, blocks: Bool = false
  ) async throws(InvitationError) -> DocumentId? {
    guard let invitation = receivedInvitations.first(where: { $0.id == id }) else { throw .unknown }
    let peer = invitation.peer
    if blocks {
      do throws(StorageError) {
        try await setTrust(.blocked, of: peer)
      } catch {
        store.logger.error("the store does not take what is known of peers: \(error)")
      }
      return nil
    }
    if accepts, await admissions.isElsewhere(invitation.document, than: peer) {
      perform(invitations.dismiss(id))
      throw .alreadyHere(invitation.document)
    }
    try await reach(peer)
    guard let (received, effects) = invitations.answer(id, accepts: accepts) else { throw .unknown }
    guard accepts else {
      perform(effects)
      news.tell(.networkChanged)
      return nil
    }
    guard await wait(for: id, PendingInvitation.grantTimeout, after: { self.perform(effects) }) else {
      throw .timedOut(name: name(of: peer))
    }
    return received.document
  }

  // MARK: Events

  func receive(_ type: String, _ fields: [String: CBOR], from peer: PeerId) {
    guard !registry.isBlocked(peer), let (id, message) = InviteMessage.parse(type: type, fields) else { return }
    let nonce = random.bytes(InviteMessage.nonceByteCount)
    change { [now = repo.clock.now, isKnown = registry.hasMet(peer)] in
      $0.receive(message, invitation: id, from: peer, isKnown: isKnown, nonce: nonce, at: now)
    }
    guard case .offer = message else { return }
    _ = repo.clock.schedule(after: Invitations.openingTimeout) { [weak self] in
      self?.change { [now = self?.repo.clock.now ?? .zero] in $0.expire(at: now) }
    }
  }

  /// Applies an event to the invitations and performs the effects. Stores what has to outlive this process.
  func change(_ body: (inout Invitations) -> [Invitations.Effect]) {
    let before = invitations.budget
    let effects = body(&invitations)
    if invitations.budget != before {
      let record = invitations.budget.record(now: repo.clock.now, date: repo.clock.date)
      Task {
        await self.store.keep { storage throws(StorageError) in
          try await storage.saveRecord(record, at: KnownPeer.invitationsKey)
        }
      }
    }
    perform(effects)
  }

  func perform(_ effects: [Invitations.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message, let id, let peer):
        repo.send(type: message.type, fields: message.fields(of: id), to: peer)
      case .delivered(let sent):
        finish(sent.id, true)
        news.tell(.networkChanged)
      case .arrived(let received):
        if registry.known[received.peer]?.name == nil, !received.name.isEmpty {
          registry.claims(received.name, by: received.peer)
        }
        Task { await self.arrived(received) }
      case .withdrawn(let received):
        finish(received.id, false)
        news.tell(.withdrawn(received, name: name(of: received.peer)))
      case .grant(let sent):
        Task { await self.grant(sent) }
      case .confirm(let sent):
        news.tell(.toBeConfirmed(sent, name: name(of: sent.peer)))
      case .declined(let sent):
        rejecters.insert(sent.peer)
        news.tell(.declined(sent.peer, name: name(of: sent.peer), sent.document))
      case .granted(let received, let access):
        granted(received, access)
      case .cheated(let peer):
        repo.complain(of: peer, "sent an invitation whose numbers do not belong together; it is not shown")
        news.tell(.brokeOff(peer, name: name(of: peer)))
      case .brokeOff(let received):
        news.tell(.brokeOff(received.peer, name: ForeignWords.name(received.name) ?? name(of: received.peer)))
      case .closedToStrangers:
        news.tell(.closedToStrangers)
      }
    }
  }

  /// Shows the invitation to our person, unless the document is already here: then there is nothing to accept.
  private func arrived(_ received: Invitations.Received) async {
    let isHere = await admissions.isElsewhere(received.document, than: received.peer)
    guard receivedInvitations.contains(where: { $0.id == received.id }) else { return }
    guard isHere else { news.tell(.invited(received, name: name(of: received.peer))); return }
    perform(invitations.dismiss(received.id))
    news.tell(.offeredAgain(received.peer, name: name(of: received.peer), received.document))
  }

  /// The other person has accepted, and so has ours if there were digits: stores the grant before promising it.
  private func grant(_ sent: Invitations.Sent) async {
    let grants = grants
    links.pinMet(sent.peer)
    await store.keep { _ throws(StorageError) in try await grants.grant(sent.access, on: sent.document, to: sent.peer) }
    perform([.send(.granted(sent.access), invitation: sent.id, to: sent.peer)])
    news.tell(.accepted(sent.peer, name: name(of: sent.peer), sent.document))
    repo.policyChanged(for: sent.document)
    if repo.handle(of: sent.document) == nil { _ = await repo.find(sent.document) }
  }

  /// Both have accepted, and we may open the document: takes the inviter's changes from now on.
  private func granted(_ received: Invitations.Received, _ access: Access) {
    guard admissions.admit(host: received.peer, of: received.document, access) else {
      finish(received.id, false)
      return
    }
    links.pinMet(received.peer)
    if !finish(received.id, true) {
      news.tell(.accepted(received.peer, name: name(of: received.peer), received.document))
    }
  }

  private func reach(_ peer: PeerId) async throws(InvitationError) {
    if provider.isConnected(peer) { return }
    do {
      _ = try await provider.connect(toAnyOf: registry.addresses(of: peer), expecting: peer)
    } catch {
      throw .unreachable(name: name(of: peer), reason: "\(error)")
    }
  }

  /// Performs an action and waits for its outcome; false if none comes in time.
  private func wait(for id: [UInt8], _ timeout: Duration, after action: () -> Void) async -> Bool {
    await OneReply.wait(otherwise: false) { reply in
      let timer = repo.clock.schedule(after: timeout) { [weak self] in self?.finish(id, false) }
      pendingInvitations[id] = PendingInvitation(reply: reply, timer: timer)
      action()
    }
  }

  @discardableResult
  private func finish(_ id: [UInt8], _ isDone: Bool) -> Bool {
    guard let pending = pendingInvitations.removeValue(forKey: id) else { return false }
    pending.timer.cancel()
    pending.reply.resume(returning: isDone)
    return true
  }
}
