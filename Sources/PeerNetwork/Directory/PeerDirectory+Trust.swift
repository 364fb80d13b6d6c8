import AutomergeRepo

extension PeerDirectory {
  /// Our relation to a peer.
  func state(of peer: PeerId) -> PeerSummary.State {
    if registry.isBlocked(peer) { return .blocked }
    if invitations.isPending(with: peer) { return .invitationPending }
    if provider.isConnected(peer), registry.isTrusted(peer) { return .connected }
    if invitations.hasDeclined(peer) { return .rejected }
    if registry.isTrusted(peer) { return .known }
    return registry.nearby[peer] == nil && provider.isConnected(peer) ? .connected : .nearby
  }

  /// Whether the peer, known or not, or our person owes the other an answer.
  func isAwaited(_ peer: PeerId) -> Bool {
    joins.isAwaited(peer) || invitations.isOpen(with: peer)
  }

  /// Stores our person's decision about a peer.
  ///
  /// A trusted peer needs no digits again. A blocked one gets no answers, and a forgotten one becomes a stranger; both lose all
  /// that was shared with them, as far as it has not been sent.
  public func setTrust(_ trust: PeerTrust, of peer: PeerId, name: String? = nil) async throws(StorageError) {
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

  /// Revokes everything shared with a peer and hangs up.
  private func end(with peer: PeerId) async throws(StorageError) {
    invitations.end(with: peer)
    let documents = grants.documents(for: peer).map(\.document)
    for document in documents { guests.dismiss([peer], from: document) }
    // It still has the text of its tickets, and may return with another key.
    await tickets.void(redeemedBy: peer)
    provider.forget(peer)
    provider.disconnect(peer)
    var failure: StorageError?
    for document in documents {
      do throws(StorageError) {
        try await grants.revoke(document, from: peer)
      } catch {
        failure = error
      }
      if grants.host(of: document) == peer { admissions.ended(document, by: peer) }
      repo.policyChanged(for: document)
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
