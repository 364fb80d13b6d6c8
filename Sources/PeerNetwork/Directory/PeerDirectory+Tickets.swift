import AutomergeRepo
import Foundation

/// Why joining failed.
public enum JoinError: Error, Hashable, Sendable {
  case ticket(TicketError)
  /// The host gave no reason, or its message made no sense.
  case refused
  /// No address in the ticket led to the host; this is what the last one said.
  case unreachable(address: String, reason: String)
  /// The host is there but did not answer the ticket.
  case timedOut
  /// The document is already here, not from this host: nothing has changed.
  case alreadyHere(DocumentId)
}

/// A caller that has presented a ticket and waits for the answer.
struct PendingJoin {
  struct Key: Hashable {
    var host: PeerId
    /// Nil for a spoken ticket.
    var document: DocumentId?
  }

  static let timeout: Duration = .seconds(10)

  /// The fields to send to the host.
  let message: TicketMessage
  /// Where to call the host again if the link is cut before it answers.
  var addresses: [PeerAddress]
  let reply: OneReply<Result<DocumentId, JoinError>>
  let timer: any ScheduledAction
}

extension PeerDirectory {
  // MARK: The host's side

  /// Makes a ticket that admits up to `uses` peers to a document.
  ///
  /// - Parameters:
  ///   - expiresIn: a day by default, a hundred years at most.
  ///   - addresses: where to reach us; the listening addresses by default.
  public func share(
    _ document: DocumentId, access: Access = .write, uses: Int = 1, expiresIn: Duration? = nil,
    addresses: [PeerAddress]? = nil
  ) async throws(StorageError) -> Ticket? {
    let secret = random.bytes(Ticket.secretByteCount)
    let lifetime = min(expiresIn ?? Ticket.lifetime, Ticket.longestLifetime)
    let expires = repo.clock.date.addingTimeInterval(lifetime / .seconds(1))
    let reachable = addresses ?? provider.reachableAddresses
    guard
      let ticket = Ticket(
        peer: repo.peerId, document: document, secret: secret, access: access, expires: expires, addresses: reachable)
    else { return nil }
    book.issue(
      document: document, secret: secret, access: access, uses: uses, expires: ticket.expires,
      deadline: repo.clock.now + lifetime)
    try await store.storage.saveRecord(book.record, at: KnownPeer.ticketsKey)
    return ticket
  }

  /// Stops sharing a document with one peer or with all, and takes back its tickets. They keep what they already have. A
  /// document that we have from another host becomes our own, if its host is among the peers.
  public func unshare(_ document: DocumentId, from peer: PeerId? = nil) async throws(StorageError) {
    let peers = peer.map { [$0] } ?? Array(grants.peers(on: document).keys)
    book.revoke(document)
    perform(invitations.withdraw(from: peer, document: document))
    guests.dismiss(peers, from: document)
    let host = grants.host(of: document)
    let leaves = host != nil && (peer == nil || peer == host)
    defer {
      repo.policyChanged(for: document)
      guests.tell(of: document)
      news.tell(.networkChanged)
    }
    try await grants.revoke(document, from: peer)
    if leaves {
      _ = grants.leaveHost(of: document)
      try await grants.storeJoined(document)
      try await grants.storeIntroductions(to: document)
    }
    try await store.storage.saveRecord(book.record, at: KnownPeer.ticketsKey)
    links.release(peers)
  }

  func receive(_ message: TicketMessage?, from peer: PeerId) {
    switch message {
    case .present(let document, let secret)?:
      redeem(secret, for: document, by: peer)
    case .presentSpoken(let secret)?:
      let (outcome, document) = book.redeem(
        spoken: secret, by: peer, date: repo.clock.date, now: repo.clock.now)
      answer(peer, outcome, document, isSpoken: true)
    case .accepted(let document, let access, let isSpoken)?:
      accepted(document, access, host: peer, key: PendingJoin.Key(host: peer, document: isSpoken ? nil : document))
    case .refused(let document, let kind)?:
      finish(PendingJoin.Key(host: peer, document: document), .failure(JoinError(kind: kind)))
    case nil:
      repo.complain(of: peer, "sent a ticket message that makes no sense")
    }
  }

  private func redeem(_ secret: [UInt8], for document: DocumentId, by peer: PeerId) {
    let outcome = book.redeem(
      document: document, secret: secret, by: peer, date: repo.clock.date,
      now: repo.clock.now)
    answer(peer, outcome, document, isSpoken: false)
  }

  private func answer(_ peer: PeerId, _ outcome: TicketBook.Outcome, _ document: DocumentId?, isSpoken: Bool) {
    switch (outcome, document) {
    case (.silence, _):
      repo.complain(of: peer, "has tried too many wrong secrets")
    case (.accepted(let access), let document?):
      Task { await self.admit(peer, to: document, access, isSpoken: isSpoken) }
    case (.repeated(let access, let isRecent), let document?):
      // A peer that has the document may present its ticket again. One that has lost the document since has lost the ticket's
      // grant, too.
      let granted = grants.guests(on: document)[peer] ?? .none
      let wasDismissed = grants.dismissed[document]?.contains(peer) == true
      guard granted > .none || isRecent && !wasDismissed else {
        return send(.refused(isSpoken ? nil : document, kind: "\(TicketError.ticketUsed)"), to: peer)
      }
      Task { await self.admit(peer, to: document, granted > .none ? granted : access, isSpoken: isSpoken) }
    case (.accepted, nil), (.repeated, nil):
      send(.refused(nil, kind: "\(TicketError.ticketInvalid)"), to: peer)
    case (.refused(let error), let document):
      if error == .ticketExpired {
        let record = book.record
        Task {
          await self.store.keep { storage throws(StorageError) in
            try await storage.saveRecord(record, at: KnownPeer.ticketsKey)
          }
        }
      }
      send(.refused(isSpoken ? nil : document, kind: "\(error)"), to: peer)
    }
  }

  func send(_ message: TicketMessage, to peer: PeerId) {
    repo.send(type: TicketMessage.type, fields: message.fields, to: peer)
  }

  /// Stores the grant before promising it.
  private func admit(_ peer: PeerId, to document: DocumentId, _ access: Access, isSpoken: Bool) async {
    let ticket = StoredItem(key: KnownPeer.ticketsKey, data: Data(book.record.encoded()))
    grants.admit(access, on: document, to: peer)
    let changes = [.save(ticket), grants.change(of: document)]
    let name = repo.peers[peer]?.name
    links.pin(peer)
    await store.keep { storage throws(StorageError) in
      try await storage.commit(changes)
    }
    links.remember(peer, name: name, addresses: registry.namedAddresses(of: peer))
    send(.accepted(document, access, isSpoken: isSpoken), to: peer)
    news.tell(.joined(peer, name: self.name(of: peer), document))
    repo.policyChanged(for: document)
    if repo.handle(of: document) == nil { _ = await repo.find(document) }
  }

  // MARK: The joiner's side

  /// Presents a ticket to its host. Returns when the host has let us in; the document then arrives through `repo.find`.
  public func join(ticket text: String) async throws(JoinError) -> DocumentId {
    if let spoken = SpokenTicket(parsing: text) { return try await join(spoken) }
    let ticket: Ticket
    do {
      ticket = try Ticket(parsing: text)
    } catch {
      throw .ticket(error)
    }
    return try await join(ticket)
  }

  public func join(_ ticket: Ticket) async throws(JoinError) -> DocumentId {
    if ticket.peer == repo.peerId { return ticket.document }
    // The store is asked while the host is being called.
    async let isElsewhere = admissions.isElsewhere(ticket.document, than: ticket.peer)
    var failure: JoinError?
    do throws(JoinError) { try await reach(ticket) } catch { failure = error }
    if await isElsewhere { throw .alreadyHere(ticket.document) }
    // The host decides whether the ticket is good, by its own clock. If it does not answer, ours has to do.
    if let failure { throw ticket.isExpired(at: repo.clock.date) ? .ticket(.ticketExpired) : failure }
    let key = PendingJoin.Key(host: ticket.peer, document: ticket.document)
    let message = TicketMessage.present(ticket.document, secret: ticket.secret)
    _ = try await present(message, as: key, at: ticket.addresses).get()
    let metadata = repo.peers[ticket.peer]
    links.remember(
      ticket.peer, name: metadata?.name, addresses: ticket.addresses + PeerRegistry.addresses(in: metadata))
    return ticket.document
  }

  private func reach(_ ticket: Ticket) async throws(JoinError) {
    if provider.isConnected(ticket.peer) { return }
    guard let first = ticket.addresses.first else {
      throw .unreachable(address: "", reason: "the ticket names no address")
    }
    do {
      _ = try await provider.connect(toAnyOf: ticket.addresses, expecting: ticket.peer)
    } catch {
      throw .unreachable(address: first.description, reason: "\(error)")
    }
  }

  /// Sends the ticket to the host and waits for its answer.
  ///
  /// - Parameter addresses: where to call the host again, once, if the link is cut before it answers
  func present(
    _ message: TicketMessage, as key: PendingJoin.Key, at addresses: [PeerAddress] = []
  ) async -> Result<DocumentId, JoinError> {
    await OneReply.wait(otherwise: .failure(.timedOut)) { reply in
      finish(key, .failure(.refused))
      let timer = repo.clock.schedule(after: PendingJoin.timeout) { [weak self] in
        self?.finish(key, .failure(.timedOut))
      }
      pendingJoins[key] = PendingJoin(message: message, addresses: addresses, reply: reply, timer: timer)
      send(message, to: key.host)
    }
  }

  /// The link to a host was cut. What was presented on it may be lost, as on a link that the host was just closing.
  func callAgain(_ host: PeerId) {
    for (key, pending) in pendingJoins where key.host == host {
      guard let first = pending.addresses.first else { continue }
      pendingJoins[key]?.addresses = []
      Task {
        do {
          _ = try await self.provider.connect(toAnyOf: pending.addresses, expecting: host)
        } catch {
          self.finish(key, .failure(.unreachable(address: first.description, reason: "\(error)")))
        }
      }
    }
  }

  private func finish(_ key: PendingJoin.Key, _ result: Result<DocumentId, JoinError>) {
    guard let pending = pendingJoins.removeValue(forKey: key) else { return }
    pending.timer.cancel()
    pending.reply.resume(returning: result)
  }

  /// Takes the host's changes from now on: they follow right behind its answer. For a spoken ticket, only now do we know the
  /// document.
  private func accepted(_ document: DocumentId, _ access: Access, host: PeerId, key: PendingJoin.Key) {
    guard pendingJoins[key] != nil else { return }
    guard key.document == nil else { return admit(document, access, host: host, key: key) }
    Task {
      if await self.admissions.isElsewhere(document, than: host) {
        self.finish(key, .failure(.alreadyHere(document)))
      } else if self.pendingJoins[key] != nil {
        self.admit(document, access, host: host, key: key)
      }
    }
  }

  private func admit(_ document: DocumentId, _ access: Access, host: PeerId, key: PendingJoin.Key) {
    guard admissions.admit(host: host, of: document, access) else {
      return finish(key, .failure(.alreadyHere(document)))
    }
    links.pin(host)
    finish(key, .success(document))
  }

  /// Returns when the host of this document, which has just let us in, is stored.
  public func storeAdmission(to document: DocumentId) async { await admissions.finishStoring(document) }
}

extension JoinError {
  init(kind: String) {
    switch kind {
    case "ticketInvalid": self = .ticket(.ticketInvalid)
    case "ticketExpired": self = .ticket(.ticketExpired)
    case "ticketUsed": self = .ticket(.ticketUsed)
    default: self = .refused
    }
  }
}
