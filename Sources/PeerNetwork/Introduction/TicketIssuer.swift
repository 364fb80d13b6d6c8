import AutomergeRepo
import Foundation
import PeerTransport

/// The tickets that this person has given out, and the peers that present them.
@AutomergeRepo
final class TicketIssuer {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let guests: GuestIntroductions
  private let news: PeerNews
  private let store: PeerStore
  private var book: TicketBook

  init(
    _ book: TicketBook, _ documents: any SharedDocuments, _ grants: Grants, _ registry: PeerRegistry,
    _ links: LinkKeeper, _ guests: GuestIntroductions, _ news: PeerNews, _ store: PeerStore
  ) {
    (self.book, self.documents, self.grants, self.registry) = (book, documents, grants, registry)
    (self.links, self.guests, self.news, self.store) = (links, guests, news, store)
  }

  private var network: any PeerMessaging { registry.network }
  private var clock: any RepoClock { network.clock }

  // MARK: Giving out, taking back

  /// Makes a ticket that admits up to `uses` peers to a document. Returns when it is stored.
  ///
  /// - Parameters:
  ///   - secret: random.
  ///   - expiresIn: a day by default, a hundred years at most.
  ///   - addresses: where to reach us.
  func issue(
    _ document: DocumentId, secret: [UInt8], access: Access, uses: Int, expiresIn: Duration?, addresses: [PeerAddress]
  ) async throws(StorageError) -> Ticket? {
    let lifetime = min(expiresIn ?? Ticket.lifetime, Ticket.maximumLifetime)
    let expires = clock.date.addingTimeInterval(lifetime / .seconds(1))
    guard
      let ticket = Ticket(
        peer: network.peerId, document: document, secret: secret, access: access, expires: expires,
        addresses: addresses)
    else { return nil }
    book.issue(
      document: document, secret: secret, access: access, uses: uses, expires: ticket.expires,
      deadline: clock.now + lifetime)
    try await save()
    return ticket
  }

  /// The document of a spoken ticket of ours; nil if there is none.
  func document(ofSpoken secret: [UInt8]) -> DocumentId? { book.document(ofSpoken: secret) }

  /// Whether a ticket of the document still admits a peer.
  func admits(to document: DocumentId) -> Bool { book.admits(to: document, at: clock.date) }

  /// Why a ticket of ours admits no further peer; nil if it does.
  func problem(of ticket: Ticket) -> TicketError? {
    book.problem(document: ticket.document, secret: ticket.secret, at: clock.date)
  }

  /// Revokes every ticket of a document, in memory; `save` makes it last.
  func revoke(_ document: DocumentId) { book.revoke(document) }

  /// What `save` writes after `revoke`.
  func change(revoking document: DocumentId) -> StorageChange {
    var book = book
    book.revoke(document)
    return Self.change(book)
  }

  /// Call when this person has decided which access a guest has: no ticket that was made before undoes that.
  ///
  /// - Returns: what to store together with the decision
  func limit(_ document: DocumentId, for peer: PeerId, to access: Access) -> [StorageChange] {
    book.limit(document, for: peer, to: access)
    return [change]
  }

  /// Revokes every ticket that a peer has presented, in memory: it still has the text, and may return with another key.
  func void(redeemedBy peer: PeerId) { _ = book.void(redeemedBy: peer) }

  /// - Parameter companions: stored together with the tickets
  func save(with companions: [StorageChange] = []) async throws(StorageError) {
    try await store.storage.commit([change] + companions)
  }

  private var change: StorageChange { Self.change(book) }

  private static func change(_ book: TicketBook) -> StorageChange {
    .save(StoredItem(key: KnownPeer.ticketsKey, data: Data(book.record.encoded())))
  }

  // MARK: Admitting

  /// A peer presents the secret of a ticket.
  func presented(_ secret: [UInt8], for document: DocumentId, by peer: PeerId) {
    let outcome = book.redeem(document: document, secret: secret, by: peer, date: clock.date, now: clock.now)
    answer(peer, outcome, document, isSpoken: false)
  }

  /// A peer presents a spoken ticket's part of a secret.
  func presented(spoken secret: [UInt8], by peer: PeerId) {
    let (outcome, document) = book.redeem(spoken: secret, by: peer, date: clock.date, now: clock.now)
    answer(peer, outcome, document, isSpoken: true)
  }

  private func answer(_ peer: PeerId, _ outcome: TicketBook.Outcome, _ document: DocumentId?, isSpoken: Bool) {
    switch (outcome, document) {
    case (.accepted(let access), let document?):
      admit(peer, to: document, access, isSpoken: isSpoken)
    case (.repeated(let access, let isRecent), let document?):
      // A peer that has the document may present its ticket again. One that has lost the document since has lost the
      // ticket's grant, too. A peer that has the document gets the same answer again, but this person gets one report,
      // however often the peer asks.
      let granted = grants.guests(on: document)[peer] ?? .none
      if granted > .none { return send(.accepted(document, granted, isSpoken: isSpoken), to: peer) }
      let isGone = grants.dismissed[document]?.contains(peer) == true || grants.left[document]?.contains(peer) == true
      guard isRecent, !isGone else { return refuse(peer, isSpoken ? nil : document, .ticketUsed) }
      admit(peer, to: document, access, isSpoken: isSpoken)
    case (.accepted, nil), (.repeated, nil):
      refuse(peer, nil, .ticketInvalid)
    case (.refused(let error), let document):
      if error == .tooManyWrong { network.complain(of: peer, "has tried too many wrong secrets") }
      if book.takeNewExpiry() {
        let record = book.record
        store.keepSoon { storage throws(StorageError) in
          try await storage.saveRecord(record, at: KnownPeer.ticketsKey)
        }
      }
      refuse(peer, isSpoken ? nil : document, error)
    }
  }

  private func refuse(_ peer: PeerId, _ document: DocumentId?, _ error: TicketError) {
    send(.refused(document, kind: "\(error)"), to: peer)
  }

  private func send(_ message: TicketMessage, to peer: PeerId) {
    network.send(type: TicketMessage.type, fields: message.fields, to: peer)
  }

  /// Grants what a ticket says, or leaves a guest what it has if that is more.
  private func admit(_ peer: PeerId, to document: DocumentId, _ access: Access, isSpoken: Bool) {
    let isRaised = grants.guests(on: document)[peer].map { $0 < access } ?? false
    grants.admit(access, on: document, to: peer)
    Task { await self.promise(document, to: peer, isRaised: isRaised, isSpoken: isSpoken) }
  }

  /// Stores a grant before promising it. This person may take it back, or change it, in the meantime.
  ///
  /// - Parameter isRaised: whether the peer was a guest with less access before
  private func promise(_ document: DocumentId, to peer: PeerId, isRaised: Bool, isSpoken: Bool) async {
    guard granted(document, to: peer, isSpoken: isSpoken) != nil else { return }
    let changes = [change, grants.change(of: document)]
    let name = network.peers[peer]?.name
    links.pin(peer)
    await store.keep { storage throws(StorageError) in try await storage.commit(changes) }
    guard let access = granted(document, to: peer, isSpoken: isSpoken) else { return }
    links.remember(peer, name: name, addresses: registry.namedAddresses(of: peer))
    send(.accepted(document, access, isSpoken: isSpoken), to: peer)
    news.tell(.joined(peer, name: registry.name(of: peer), document))
    documents.policyChanged(for: document)
    // The other guests hear of a new one when it is on the document.
    if isRaised { guests.tell(of: document) }
    if documents.handle(of: document) == nil { await documents.fetch(document) }
  }

  /// What is granted to a peer now. If nothing is, refuses its ticket.
  private func granted(_ document: DocumentId, to peer: PeerId, isSpoken: Bool) -> Access? {
    let access = grants.guests(on: document)[peer]
    if access == nil, !registry.isBlocked(peer) { refuse(peer, isSpoken ? nil : document, .ticketInvalid) }
    return access
  }
}
