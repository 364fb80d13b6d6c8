import Automerge
import AutomergeRepo
import PeerTransport

/// Sharing documents, and joining those of others.
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
    try await tickets.issue(
      document, secret: random.bytes(Ticket.secretByteCount), access: access, uses: uses, expiresIn: expiresIn,
      addresses: addresses ?? provider.reachableAddresses)
  }

  /// Why a ticket that this person has made admits no further peer; nil if it does.
  public func problem(of ticket: Ticket) -> JoinError? {
    tickets.problem(of: ticket).map { $0 == .ticketInvalid ? .ticketRevoked : .ticket($0) }
  }

  /// Whether a ticket of the document still admits a peer.
  public func hasTicket(for document: DocumentId) -> Bool { tickets.admits(to: document) }

  /// Stops sharing a document with one peer or with all, and revokes its tickets, at once; returns when it is stored. The
  /// peers keep what they already have. If one of the peers is the document's host, the document becomes our own.
  ///
  /// - Returns: false if it was not shared with them, and no ticket or invitation could have led to that.
  @discardableResult
  public func unshare(_ document: DocumentId, from peer: PeerId? = nil) async throws(StorageError) -> Bool {
    let wasShared = isShared(document, with: peer)
    let peers = peer.map { [$0] } ?? Array(grants.peers(on: document).keys)
    tickets.revoke(document)
    invitations.withdraw(from: peer, document: document)
    guests.dismiss(peers, from: document)
    let host = grants.host(of: document)
    let leaves = host != nil && (peer == nil || peer == host)
    var changes = grants.withdraw(document, from: peer)
    if leaves {
      _ = grants.leaveHost(of: document)
      changes = [
        grants.change(of: document), grants.introductionsChange(of: document), grants.joinedChange(of: document),
      ]
    }
    repo.policyChanged(for: document)
    links.release(peers)
    guests.tell(of: document)
    defer { news.tell(.networkState) }
    try await tickets.save(with: changes)
    return wasShared
  }

  private func isShared(_ document: DocumentId, with peer: PeerId?) -> Bool {
    let (host, guests) = (grants.host(of: document), grants.peers(on: document))
    if invitations.isOpen(with: peer, to: document) { return true }
    guard let peer else { return host != nil || !guests.isEmpty || tickets.admits(to: document) }
    return host == peer || guests[peer] != nil
  }

  /// Changes a peer's access to a document that this person shares with it. Tells the peer at once, or when it connects
  /// again. False if the peer does not have the document from us.
  public func setAccess(
    _ access: Access, to document: DocumentId, for peer: PeerId
  ) async throws(StorageError) -> Bool {
    guard guests.isGuest(peer, on: document) else { return false }
    guard access > .none else {
      try await unshare(document, from: peer)
      return true
    }
    let companions = tickets.limit(document, for: peer, to: access)
    return try await guests.change(access, to: document, for: peer, with: companions)
  }

  /// Grants the document's successor to every peer that has the document from this person, except the removed ones.
  /// Tells each at once, or when it connects again; until then it keeps what it has. The old document is no longer
  /// shared.
  ///
  /// - Parameter heads: the heads of the successor, which has everything that it continues with
  public func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without removed: Set<PeerId>
  ) async throws(StorageError) {
    try await mover.move(document, to: successor, heads: heads, without: removed)
  }

  // MARK: The joiner's side

  /// Presents a ticket, as text or as words, to its host. Returns when the host has admitted us; then `repo.find` finds
  /// the document.
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
    ticket.peer == repo.peerId ? ticket.document : try await joins.join(ticket)
  }

  private func join(_ ticket: SpokenTicket) async throws(JoinError) -> DocumentId {
    guard ticket.isFrom(repo.peerId) else { return try await joins.join(ticket) }
    guard let document = tickets.document(ofSpoken: ticket.secretStart) else { throw .ticket(.ticketInvalid) }
    return document
  }

  /// Returns when the admission to this document, which its host has just granted, is stored.
  public func storeAdmission(to document: DocumentId) async { await admissions.finishStoring(document) }

  /// The hosts' moves that this person's notes have yet to follow.
  public var movesToFollow: [NoteMove] { mover.history.toFollow.map { NoteMove($0) } }

  /// Call when this person's note has become the new document: the old one is no longer shared.
  public func followed(_ document: DocumentId) async throws(StorageError) { try await mover.followed(document) }

  // MARK: Messages

  func receive(_ message: TicketMessage?, from peer: PeerId) {
    switch message {
    case .present(let document, let secret)?: tickets.presented(secret, for: document, by: peer)
    case .presentSpoken(let secret)?: tickets.presented(spoken: secret, by: peer)
    case .accepted(let document, let access, let isSpoken)?:
      joins.accepted(document, access, host: peer, isSpoken: isSpoken)
    case .refused(let document, let kind)?: joins.refused(document, kind: kind, by: peer)
    case nil: repo.complain(of: peer, "sent a ticket message that makes no sense")
    }
  }
}
