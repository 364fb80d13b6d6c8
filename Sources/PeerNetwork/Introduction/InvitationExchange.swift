import AutomergeRepo

/// The invitations of both sides: carries out what their state machine decides, and knows the callers that wait for it.
@AutomergeRepo
final class InvitationExchange {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let provider: any PeerLinking
  private let links: LinkKeeper
  private let admissions: Admissions
  private let guests: GuestIntroductions
  private let news: PeerNews
  private let store: PeerStore
  private var invitations: Invitations
  /// The callers that wait for the next step, by invitation.
  private var waiting: [[UInt8]: PendingInvitation] = [:]
  /// The accepted invitations whose inviters have just granted access, by id.
  private var granting: [[UInt8]: PeerId] = [:]
  /// The peers that have declined, until this person invites them again.
  private var rejecters: Set<PeerId> = []

  /// - Parameter budget: what is left of it from before a restart.
  init(
    _ budget: OfferBudget, _ documents: any SharedDocuments, _ grants: Grants, _ registry: PeerRegistry,
    _ provider: any PeerLinking, _ links: LinkKeeper, _ admissions: Admissions, _ guests: GuestIntroductions,
    _ news: PeerNews, _ store: PeerStore
  ) {
    (self.documents, self.grants, self.registry, self.provider) = (documents, grants, registry, provider)
    (self.links, self.admissions, self.guests) = (links, admissions, guests)
    (self.news, self.store) = (news, store)
    invitations = Invitations(local: registry.network.peerId)
    invitations.budget = budget
  }

  private var network: any PeerMessaging { registry.network }
  private var clock: any RepoClock { network.clock }

  // MARK: Inviting

  /// Invites a peer to a document. Returns when the invitation has arrived, with the digits to compare if the two meet
  /// for the first time. The document is then sent only after both `confirm` and the other person's acceptance.
  ///
  /// - Parameter id, nonce: random.
  func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access, id: [UInt8], nonce: [UInt8]
  ) async throws(InvitationError) -> String? {
    guard !registry.isBlocked(peer) else { throw .blocked }
    try await reach(peer)
    rejecters.remove(peer)
    let effects = invitations.invite(
      peer, to: document, title: title, access: access, name: network.metadata.name ?? "", id: id, nonce: nonce,
      knowsInvited: registry.hasMet(peer), at: clock.now)
    guard await wait(for: id, PendingInvitation.deliveryTimeout, after: { self.perform(effects) }) == .done else {
      invitations.forget(id)
      throw .notTaken(name: registry.name(of: peer))
    }
    return invitations.sent(at: clock.now).first { $0.id == id }?.code
  }

  /// The invitations that this person may answer.
  var received: [Invitations.Received] { invitations.received(at: clock.now) }

  /// Our invitations that wait for an answer, or for this person to compare the digits.
  var sent: [Invitations.Sent] { invitations.sent(at: clock.now) }

  /// The invitations that wait for this person, or for an answer to this person.
  var summaries: [InvitationSummary] {
    let inviters = received.map(\.peer)
    return received.map { summary($0, among: inviters) } + sent.map(summary)
  }

  private func summary(_ invitation: Invitations.Received) -> InvitationSummary {
    summary(invitation, among: received.map(\.peer))
  }

  /// - Parameter inviters: the peers that have invited this person.
  private func summary(_ invitation: Invitations.Received, among inviters: [PeerId]) -> InvitationSummary {
    var summary = InvitationSummary(invitation, name: registry.name(of: invitation.peer))
    summary.isNameShared = registry.isNameShared(by: invitation.peer, inviters: inviters)
    return summary
  }

  private func summary(_ invitation: Invitations.Sent) -> InvitationSummary {
    InvitationSummary(invitation, name: registry.name(of: invitation.peer))
  }

  /// Call when this person has said whether the digits are equal: if they are, the two have met, and the document is
  /// sent.
  func confirm(_ invitation: [UInt8], areEqual: Bool) { perform(invitations.confirm(invitation, areEqual: areEqual)) }

  /// This person trusts a peer: confirms the invitations that waited for the digits to be compared.
  func confirmAll(to peer: PeerId) {
    for sent in sent where sent.peer == peer && sent.awaitsConfirmation { confirm(sent.id, areEqual: true) }
  }

  /// Withdraws our invitations.
  ///
  /// - Parameters:
  ///   - peer: nil for all peers.
  ///   - document: nil for all documents.
  func withdraw(from peer: PeerId?, document: DocumentId?) {
    perform(invitations.withdraw(from: peer, document: document))
  }

  /// Whether a peer, or any at all, has an invitation of ours to this document to answer.
  func isOpen(with peer: PeerId?, to document: DocumentId) -> Bool {
    sent.contains { $0.document == document && (peer == nil || $0.peer == peer) }
  }

  /// Withdraws our invitations of a peer, and drops its own without an answer.
  func end(with peer: PeerId) {
    withdraw(from: peer, document: nil)
    invitations.drop(peer)
    granting = granting.filter { $0.value != peer }
  }

  /// Whether a peer has an invitation of ours to answer, or this person one of the peer's.
  func isOpen(with peer: PeerId) -> Bool { invitations.isOpen(with: peer) }

  /// Whether an invitation to or from this peer waits for an answer.
  func isPending(with peer: PeerId) -> Bool {
    received.contains { $0.peer == peer } || sent.contains { $0.peer == peer }
  }

  /// Whether a peer has declined our last invitation.
  func hasDeclined(_ peer: PeerId) -> Bool { rejecters.contains(peer) }

  func forgetRejection(by peer: PeerId) { rejecters.remove(peer) }

  // MARK: Answering

  /// Answers an invitation. After accepting, returns when the document may be opened.
  ///
  /// - Returns: the document; nil after declining.
  func answer(_ id: [UInt8], accepts: Bool) async throws(InvitationError) -> DocumentId? {
    guard let invitation = received.first(where: { $0.id == id }) else { throw .unknown }
    let peer = invitation.peer
    if accepts, await admissions.isElsewhere(invitation.document, than: peer) {
      perform(invitations.dismiss(id))
      throw .alreadyHere(invitation.document)
    }
    try await reach(peer)
    guard let (answered, effects) = invitations.answer(id, accepts: accepts) else { throw .unknown }
    guard accepts else {
      perform(effects)
      news.tell(.networkState)
      return nil
    }
    switch await wait(for: id, PendingInvitation.grantTimeout, after: { self.perform(effects) }) {
    case .done: return answered.document
    case .over: throw .timedOut(name: registry.name(of: peer))
    case .alreadyHere: throw .alreadyHere(answered.document)
    }
  }

  // MARK: Events

  /// A new link to a peer: repeats what may have been lost with the last one.
  func connected(to peer: PeerId) { perform(invitations.reconnected(to: peer)) }

  /// A link has ended: its peer's unopened offers count as broken off.
  func linkEnded(_ peer: PeerId) { change { $0.linkEnded(peer) } }

  /// - Parameter nonce: random, for an answer that needs one.
  func receive(_ type: String, _ fields: [String: CBOR], from peer: PeerId, nonce: [UInt8]) {
    guard !registry.isBlocked(peer), let (id, message) = InviteMessage.parse(type: type, fields) else { return }
    change { [now = clock.now, isKnown = registry.hasMet(peer)] in
      $0.receive(message, invitation: id, from: peer, isKnown: isKnown, nonce: nonce, at: now)
    }
    guard case .offer = message else { return }
    _ = clock.schedule(after: Invitations.openingTimeout) { [weak self] in
      self?.change { [now = self?.clock.now ?? .zero] in $0.expire(at: now) }
    }
  }

  /// Applies an event to the invitations and performs the effects. Stores what has to outlive this process.
  private func change(_ body: (inout Invitations) -> [Invitations.Effect]) {
    let before = invitations.budget
    let effects = body(&invitations)
    if invitations.budget != before {
      let record = invitations.budget.record(now: clock.now, date: clock.date)
      store.keepSoon { storage throws(StorageError) in
        try await storage.saveRecord(record, at: KnownPeer.invitationsKey)
      }
    }
    perform(effects)
  }

  private func perform(_ effects: [Invitations.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message, let id, let peer):
        network.send(type: message.type, fields: message.fields(of: id), to: peer)
      case .delivered(let sent):
        finish(sent.id, .done)
        news.tell(.networkState)
      case .arrived(let received):
        if registry.known[received.peer]?.name == nil, !received.name.isEmpty {
          registry.claims(received.name, by: received.peer)
        }
        Task { await self.arrived(received) }
      case .withdrawn(let received):
        finish(received.id, .over)
        news.tell(.withdrawn(summary(received)))
      case .grant(let sent):
        Task { await self.grant(sent) }
      case .repeatGrant(let sent):
        // Nothing is granted yet, or any more: then the first answer is still to come, or none.
        if let access = grants.guests(on: sent.document)[sent.peer] {
          network.send(
            type: InviteMessage.inviteType, fields: InviteMessage.granted(access).fields(of: sent.id), to: sent.peer)
        }
      case .confirm(let sent):
        news.tell(.toBeConfirmed(summary(sent)))
      case .declined(let sent):
        rejecters.insert(sent.peer)
        news.tell(.declined(sent.peer, name: registry.name(of: sent.peer), sent.document))
      case .granted(let received, let access):
        granting[received.id] = received.peer
        // The inviter's list of guests comes right behind its grant.
        guests.hold(received.document, from: received.peer)
        Task { await self.granted(received, access) }
      case .cheated(let peer):
        network.complain(of: peer, "sent an invitation whose numbers do not belong together; it is not shown")
        news.tell(.brokeOff(peer, name: registry.name(of: peer)))
      case .brokeOff(let received):
        news.tell(.brokeOff(received.peer, name: ForeignWords.name(received.name) ?? registry.name(of: received.peer)))
      case .closedToStrangers:
        news.tell(.closedToStrangers)
      }
    }
  }

  /// Shows the invitation to this person, unless the document is already here: then there is nothing to accept.
  private func arrived(_ received: Invitations.Received) async {
    let isHere = await admissions.isElsewhere(received.document, than: received.peer)
    guard self.received.contains(where: { $0.id == received.id }) else { return }
    guard isHere else { news.tell(.invited(summary(received))); return }
    perform(invitations.dismiss(received.id))
    news.tell(.offeredAgain(received.peer, name: registry.name(of: received.peer), received.document))
  }

  /// The other person has accepted, and so has this person if there were digits: stores the grant before promising it.
  private func grant(_ sent: Invitations.Sent) async {
    // This person may have withdrawn the invitation in the meantime.
    guard invitations.isGranted(sent.id) else { return }
    let grants = grants
    links.pinMet(sent.peer)
    let isRaised = grants.guests(on: sent.document)[sent.peer].map { $0 < sent.access } ?? false
    grants.admit(sent.access, on: sent.document, to: sent.peer)
    await store.keep { _ throws(StorageError) in try await grants.store(sent.document) }
    // The same, or changed the access, while this was stored.
    guard let access = grants.guests(on: sent.document)[sent.peer] else { return }
    perform([.send(.granted(access), invitation: sent.id, to: sent.peer)])
    news.tell(.joined(sent.peer, name: registry.name(of: sent.peer), sent.document))
    documents.policyChanged(for: sent.document)
    // The other guests hear of a new one when it is on the document.
    if isRaised { guests.tell(of: sent.document) }
    if documents.handle(of: sent.document) == nil { await documents.fetch(sent.document) }
  }

  /// Both have accepted, and we may open the document: takes the inviter's changes from now on. The inviter may have
  /// taken a day to confirm, so the document may be here from elsewhere by now; then nothing changes but that the two
  /// people have met.
  private func granted(_ received: Invitations.Received, _ access: Access) async {
    defer { guests.stopHolding(received.document, from: received.peer) }
    let isElsewhere = await admissions.isElsewhere(received.document, than: received.peer)
    // This person may have blocked or forgotten the inviter in the meantime.
    guard granting.removeValue(forKey: received.id) != nil else { return }
    links.pinMet(received.peer)
    let (peer, document) = (received.peer, received.document)
    guard !isElsewhere, admissions.admit(host: peer, of: document, access) else {
      if !finish(received.id, .alreadyHere) {
        news.tell(.offeredAgain(peer, name: registry.name(of: peer), document))
      }
      return
    }
    guests.takeHeld(document, from: peer)
    if !finish(received.id, .done) { news.tell(.accepted(peer, name: registry.name(of: peer), document)) }
  }

  private func reach(_ peer: PeerId) async throws(InvitationError) {
    if provider.isConnected(peer) { return }
    do {
      _ = try await provider.connect(toAnyOf: registry.addresses(of: peer), expecting: peer)
    } catch {
      throw .unreachable(name: registry.name(of: peer), reason: "\(error)")
    }
  }

  /// Performs an action and waits for its outcome.
  private func wait(
    for id: [UInt8], _ timeout: Duration, after action: () -> Void
  ) async -> PendingInvitation.Outcome {
    await OneReply.wait(otherwise: .over) { reply in
      let timer = clock.schedule(after: timeout) { [weak self] in self?.finish(id, .over) }
      waiting[id] = PendingInvitation(reply: reply, timer: timer)
      action()
    }
  }

  @discardableResult
  private func finish(_ id: [UInt8], _ outcome: PendingInvitation.Outcome) -> Bool {
    guard let pending = waiting.removeValue(forKey: id) else { return false }
    pending.timer.cancel()
    pending.reply.resume(returning: outcome)
    return true
  }
}
