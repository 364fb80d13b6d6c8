import AutomergeRepo

/// Carries out our person's decisions about peers. The registry remembers them.
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

  init(
    _ documents: any SharedDocuments, _ registry: PeerRegistry, _ provider: any PeerLinking, _ admissions: Admissions,
    _ guests: GuestIntroductions, _ tickets: TicketIssuer, _ invitations: InvitationExchange, _ news: PeerNews,
    _ store: PeerStore
  ) {
    (self.documents, self.grants, self.registry, self.provider) = (documents, registry.grants, registry, provider)
    (self.admissions, self.guests, self.tickets) = (admissions, guests, tickets)
    (self.invitations, self.news, self.store) = (invitations, news, store)
  }

  /// Applies a decision. Returns when it is stored.
  ///
  /// A trusted peer needs no digits again. A blocked one gets no answers, and a forgotten one becomes a stranger; both lose all
  /// that was shared with them, as far as it has not been sent.
  func decide(_ trust: PeerTrust, about peer: PeerId, name: String?) async throws(StorageError) {
    let entry = registry.decide(trust, about: peer, name: name)
    switch trust {
    case .trusted:
      provider.trust(peer)
      invitations.confirmAll(to: peer)
    case .blocked, .forgotten: try await end(with: peer)
    }
    try await registry.save(entry, of: peer)
    invitations.forgetRejection(by: peer)
    news.tell(.networkState)
  }

  /// Blocks a peer, even if the store does not take it.
  func block(_ peer: PeerId) async {
    await store.keep { _ throws(StorageError) in try await self.decide(.blocked, about: peer, name: nil) }
  }

  /// Revokes everything shared with a peer and hangs up.
  private func end(with peer: PeerId) async throws(StorageError) {
    invitations.end(with: peer)
    let shared = grants.documents(for: peer).map(\.document)
    for document in shared { guests.dismiss([peer], from: document) }
    // It still has the text of its tickets, and may return with another key.
    await tickets.void(redeemedBy: peer)
    provider.forget(peer)
    provider.disconnect(peer)
    var failure: StorageError?
    for document in shared {
      do throws(StorageError) {
        try await grants.revoke(document, from: peer)
      } catch {
        failure = error
      }
      if grants.host(of: document) == peer { admissions.ended(document, by: peer) }
      documents.policyChanged(for: document)
      guests.tell(of: document)
    }
    // A forgotten host that comes back is a stranger, and the document is our own.
    for document in grants.forgetFormerHost(peer) {
      do throws(StorageError) {
        try await grants.storeJoined(document)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}
