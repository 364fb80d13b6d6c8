import AutomergeRepo

/// Carries out this person's decisions about peers. The registry remembers them.
@AutomergeRepo
final class TrustDecisions {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let provider: any PeerLinking
  private let admissions: Admissions
  private let guests: GuestIntroductions
  private let tickets: TicketIssuer
  private let invitations: InvitationExchange
  private let news: PeerNews
  private let store: PeerStore
  /// The peers with decisions that are not stored yet, and the documents that were shared with them.
  private(set) var unstored: [PeerId: Set<DocumentId>] = [:]
  private var retry: (any ScheduledAction)?
  /// The pause before trying the store again.
  static let retryDelay: Duration = .seconds(10)

  init(
    _ documents: any SharedDocuments, _ registry: PeerRegistry, _ provider: any PeerLinking, _ admissions: Admissions,
    _ guests: GuestIntroductions, _ tickets: TicketIssuer, _ invitations: InvitationExchange, _ news: PeerNews,
    _ store: PeerStore
  ) {
    (self.documents, self.grants, self.registry, self.provider) = (documents, registry.grants, registry, provider)
    (self.admissions, self.guests, self.tickets) = (admissions, guests, tickets)
    (self.invitations, self.news, self.store) = (invitations, news, store)
  }

  /// Applies a decision. Returns when it is stored. If that fails, throws the store's error; the decision applies all
  /// the same, and is stored as soon as possible.
  ///
  /// A trusted peer needs no digits again. A blocked one gets no answers, and a forgotten one becomes a stranger; both
  /// lose everything that was shared with them and has not been sent.
  func decide(_ trust: PeerTrust, about peer: PeerId, name: String?) async throws(StorageError) {
    let entry = registry.decide(trust, about: peer, name: name)
    var failure: StorageError?
    var documents: Set<DocumentId> = []
    switch trust {
    case .trusted:
      provider.trust(peer)
      invitations.confirmAll(to: peer)
    case .blocked, .forgotten: (documents, failure) = await end(with: peer)
    }
    do throws(StorageError) {
      try await registry.save(entry, of: peer)
    } catch {
      failure = error
    }
    invitations.forgetRejection(by: peer)
    news.tell(.networkState)
    guard let failure else { return }
    unstored[peer, default: []].formUnion(documents)
    storeLater()
    throw failure
  }

  private func storeLater() {
    guard retry == nil else { return }
    retry = registry.network.clock.schedule(after: Self.retryDelay) { [weak self] in
      guard let self else { return }
      self.retry = nil
      Task { await self.storeAgain() }
    }
  }

  /// Stores the present data of the peers and documents whose decisions are not stored yet.
  private func storeAgain() async {
    for (peer, documents) in unstored.sorted(by: { $0.key < $1.key }) {
      do throws(StorageError) {
        try await tickets.save(with: changes(of: documents))
        try await registry.save(registry.known[peer], of: peer)
        if unstored[peer] == documents { unstored[peer] = nil }
      } catch {
        store.logger.warning("The decision about \(peer) could not be stored yet: \(error)")
      }
    }
    if !unstored.isEmpty { storeLater() }
  }

  /// Blocks a peer, even if this cannot be stored.
  func block(_ peer: PeerId) async {
    await store.keep { _ throws(StorageError) in try await self.decide(.blocked, about: peer, name: nil) }
  }

  /// What the store is to have about these documents.
  private func changes(of documents: Set<DocumentId>) -> [StorageChange] {
    documents.sorted { $0.description < $1.description }.flatMap { document in
      [grants.change(of: document), grants.introductionsChange(of: document), grants.joinedChange(of: document)]
    }
  }

  /// Revokes everything shared with a peer and hangs up, before the store is asked: it may take seconds.
  ///
  /// - Returns: the documents that this concerns, and the store's error, if there was one
  private func end(with peer: PeerId) async -> (documents: Set<DocumentId>, failure: StorageError?) {
    invitations.end(with: peer)
    let shared = grants.documents(for: peer).map(\.document)
    for document in shared { guests.dismiss([peer], from: document) }
    // The peer still has the text of its tickets, and may return with another key.
    tickets.void(redeemedBy: peer)
    provider.forget(peer)
    provider.disconnect(peer)
    for document in shared {
      _ = grants.withdraw(document, from: peer)
      if grants.host(of: document) == peer { admissions.ended(document, by: peer) }
      documents.policyChanged(for: document)
      guests.tell(of: document)
    }
    // A forgotten host that returns is a stranger, and the document is our own.
    let concerned = Set(shared).union(grants.forgetFormerHost(peer))
    do throws(StorageError) {
      try await tickets.save(with: changes(of: concerned))
      return (concerned, nil)
    } catch {
      return (concerned, error)
    }
  }
}
