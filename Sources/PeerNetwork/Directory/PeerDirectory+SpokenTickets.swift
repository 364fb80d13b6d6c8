import AutomergeRepo

/// Joining with the words of a ticket.
extension PeerDirectory {
  /// Finds the peer whose fingerprint the words begin, at their address or on the local network, and presents them.
  func join(_ ticket: SpokenTicket) async throws(JoinError) -> DocumentId {
    if ticket.isFrom(repo.peerId) {
      guard let document = book.document(ofSpoken: ticket.secretStart) else { throw .ticket(.ticketInvalid) }
      return document
    }
    let host = try await reach(ticket)
    let key = PendingJoin.Key(host: host, document: nil)
    let document = try await present(.presentSpoken(secret: ticket.secretStart), as: key).get()
    let metadata = repo.peers[host]
    links.remember(
      host, name: metadata?.name, addresses: [ticket.address].compactMap(\.self) + PeerRegistry.addresses(in: metadata)
    )
    return document
  }

  /// Says nothing to a peer whose key does not begin as the words say.
  private func reach(_ ticket: SpokenTicket) async throws(JoinError) -> PeerId {
    if let peer = repo.peers.keys.first(where: ticket.isFrom) { return peer }
    let met = registry.nearby.keys.first(where: ticket.isFrom) ?? registry.known.keys.first(where: ticket.isFrom)
    if let met, let first = registry.addresses(of: met).first {
      do throws(PeerNetworkError) {
        return try await provider.connect(toAnyOf: registry.addresses(of: met), expecting: met)
      } catch {
        // The peer may have moved to the address in the words.
        if ticket.address == nil { throw .unreachable(address: first.description, reason: "\(error)") }
      }
    }
    guard let address = ticket.address else {
      throw .unreachable(address: "", reason: "the words name no address, and nobody nearby has given them out")
    }
    do throws(PeerNetworkError) {
      return try await provider.connect(to: address, keyBeginningWith: ticket.fingerprintStart)
    } catch {
      throw .unreachable(address: address.description, reason: "\(error)")
    }
  }
}
