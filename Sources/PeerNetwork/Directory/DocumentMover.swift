import Automerge
import AutomergeRepo
import Foundation

/// Removes guests permanently: the others continue in a new document.
@AutomergeRepo
final class DocumentMover {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let admissions: Admissions
  private let guests: GuestIntroductions
  private let tickets: TicketIssuer
  private let invitations: InvitationExchange
  private let news: PeerNews
  private let store: PeerStore
  private(set) var history: MoveHistory
  private var limit = MoveLimit()
  /// The moves that are being checked, by the old documents.
  private var checks: [DocumentId: Check] = [:]

  /// A move whose successor is being looked up in the store.
  private struct Check {
    let host: PeerId
    /// The successor, and the successors of the moves that wait.
    var successors: Set<DocumentId>
    /// The host's further moves of the document or its successor, in order of arrival.
    var waiting: [[String: CBOR]] = []
  }

  /// More moves of one document than a host makes while one is being checked.
  private static let maximumWaiting = 16

  init(
    _ history: MoveHistory, _ documents: any SharedDocuments, _ grants: Grants, _ registry: PeerRegistry,
    _ links: LinkKeeper, _ admissions: Admissions, _ guests: GuestIntroductions, _ tickets: TicketIssuer,
    _ invitations: InvitationExchange, _ news: PeerNews, _ store: PeerStore
  ) {
    (self.history, self.documents, self.grants, self.registry) = (history, documents, grants, registry)
    (self.links, self.admissions, self.guests) = (links, admissions, guests)
    (self.tickets, self.invitations, self.news, self.store) = (tickets, invitations, news, store)
  }

  private var network: any PeerMessaging { registry.network }

  // MARK: The host's side

  /// Grants the document's successor to every peer that has the document from this person, except the removed ones.
  /// Tells each at once, or when it connects again; until then it keeps what it has. The old document is no longer
  /// shared.
  ///
  /// - Parameter heads: the heads of the successor, which has everything that it continues with
  func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without removed: Set<PeerId>
  ) async throws(StorageError) {
    try await hand(
      DocumentMove(
        document: document, successor: successor, heads: heads, removed: removed, host: nil, isFollowed: true))
    news.tell(.networkState)
  }

  /// Grants the successor to the peers that have the document from us, and ends the sharing of the document, all in one
  /// step of the store. If that fails, nothing has changed, and no guest has heard of the move.
  ///
  /// - Returns: the peers that have lost the document with its host
  @discardableResult
  private func hand(_ move: DocumentMove) async throws(StorageError) -> Set<PeerId> {
    let (document, stored) = (move.document, changes(by: withGuests(move)))
    try await store.storage.commit(stored)
    // Guests may have come, left or been blocked while the store wrote.
    let move = withGuests(move)
    let changes = changes(by: move)
    history.record(move)
    // Tells the removed guests that they have lost the document, and the others the successor.
    tickets.revoke(document)
    invitations.withdraw(from: nil, document: document)
    let leaving = grants.guests(on: document).keys.filter { move.removed.contains($0) }
    guests.dismiss(leaving, from: document)
    let gone = apply(move, to: grants)
    for peer in move.guests.keys {
      tell(move, to: peer)
      guests.forget(document, of: peer)
    }
    documents.policyChanged(for: document)
    documents.policyChanged(for: move.successor)
    guests.tell(of: move.successor)
    links.release(leaving)
    if changes != stored {
      await store.keep { storage throws(StorageError) in try await storage.commit(changes) }
    }
    return gone
  }

  /// A move with the peers that have the document from us now and stay.
  private func withGuests(_ move: DocumentMove) -> DocumentMove {
    var move = move
    move.guests = grants.guests(on: move.document).filter {
      $0.key != move.host && !move.removed.contains($0.key) && !registry.isBlocked($0.key)
    }
    return move
  }

  /// Makes a move's changes to the access of peers, in memory.
  ///
  /// - Returns: the peers that have lost the document with its host
  private func apply(_ move: DocumentMove, to grants: Grants) -> Set<PeerId> {
    for (peer, access) in move.guests {
      grants.admit(access, on: move.successor, to: peer)
      grants.drop(move.document, of: peer)
    }
    for peer in grants.guests(on: move.document).keys.sorted() where move.removed.contains(peer) {
      _ = grants.withdraw(move.document, from: peer)
    }
    return move.host == nil ? [] : grants.leaveHost(of: move.document)
  }

  /// What the store is to have once a move is made.
  private func changes(by move: DocumentMove) -> [StorageChange] {
    let (document, after) = (move.document, grants.copy())
    _ = apply(move, to: after)
    let key = [DocumentMove.key, document.description]
    return [
      after.change(of: move.successor), .save(StoredItem(key: key, data: Data(move.record.encoded()))),
      after.change(of: document), after.introductionsChange(of: document), tickets.change(revoking: document),
    ] + (move.host == nil ? [] : [after.joinedChange(of: document)])
  }

  /// Tells a peer that has just connected about the moves that it missed.
  func tellOfMoves(to peer: PeerId) {
    for move in history.moves.values { tell(move, to: peer) }
  }

  /// Tells a peer which document continues this one: it may have moved more than once while the peer was away.
  private func tell(_ move: DocumentMove, to peer: PeerId) {
    guard move.guests[peer] != nil, network.peers[peer] != nil else { return }
    let last = history.current(move)
    // This guest stayed at the first move and was removed at a later one.
    guard !last.removed.contains(peer) else { return guests.dismiss([peer], from: move.document) }
    guard let access = grants.guests(on: last.successor)[peer] else { return }
    var fields = last.fields
    fields["access"] = .text(access.rawValue)
    network.send(type: DocumentMove.type, fields: fields, to: peer)
  }

  // MARK: The guest's side

  /// Accepts a move only from the document's host, and only to a successor that is not here, or that came from the same
  /// host.
  func receive(_ fields: [String: CBOR], from host: PeerId) {
    guard let move = DocumentMove(fields: fields, host: host),
      let access = fields["access"]?.text.flatMap({ Access(rawValue: $0) }), access > .none
    else { return network.complain(of: host, "moved a document in a way that makes no sense") }
    if let check = check(before: move, by: host) {
      guard checks[check]?.waiting.count ?? 0 < Self.maximumWaiting else { return }
      checks[check]?.waiting.append(fields)
      checks[check]?.successors.insert(move.successor)
      return
    }
    if limit.brings(move.document, from: host) { return wait(for: move, fields, from: host) }
    guard grants.host(of: move.document) == host, !move.removed.contains(network.peerId), history.isNews(move) else {
      return
    }
    guard limit.allows(host, at: network.clock.now) else { return wait(for: move, fields, from: host) }
    guests.hold(move.successor, from: host)
    checks[move.document] = Check(host: host, successors: [move.successor])
    Task {
      defer {
        self.guests.stopHolding(move.successor, from: host)
        for fields in self.checks.removeValue(forKey: move.document)?.waiting ?? [] { self.receive(fields, from: host) }
      }
      guard await !self.admissions.isElsewhere(move.successor, than: host), self.history.isNews(move) else { return }
      self.history.record(move)
      await self.store.keep { storage throws(StorageError) in
        try await storage.saveRecord(move.record, at: [DocumentMove.key, move.document.description])
      }
      // Reported before the document arrives, so that the person does not continue to write in the old one.
      self.news.tell(.moved(NoteMove(move), name: self.registry.name(of: host)))
      _ = self.admissions.admit(host: host, of: move.successor, access)
      self.guests.takeHeld(move.successor, from: host)
    }
  }

  /// Takes the move when the host has made fewer in the last hour.
  private func wait(for move: DocumentMove, _ fields: [String: CBOR], from host: PeerId) {
    let clock = network.clock
    guard let pause = limit.wait(move, fields, from: host, at: clock.now) else { return }
    _ = clock.schedule(after: pause) { [weak self] in
      for fields in self?.limit.takeWaiting(host) ?? [] { self?.receive(fields, from: host) }
    }
  }

  /// The document of the check that another move of the same host has to wait for: of two moves of one document the
  /// later one counts, and a successor belongs to the host only once it is admitted.
  ///
  /// - Complexity: O(n) in the moves that are being checked.
  private func check(before move: DocumentMove, by host: PeerId) -> DocumentId? {
    checks.first { document, check in
      check.host == host && (document == move.document || check.successors.contains(move.document))
    }?.key
  }

  /// Call when this person's note has become the new document: the old one is no longer shared.
  func followed(_ document: DocumentId) async throws(StorageError) {
    guard var move = history.moves[document], !move.isFollowed else { return }
    move.isFollowed = true
    let gone = try await hand(move)
    links.release(gone.subtracting(move.removed))
    links.hangUp(gone.intersection(move.removed))
    news.tell(.networkState)
  }
}
