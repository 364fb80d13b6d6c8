import AutomergeRepo

/// Changes of access: by our person for its guests, and by a host for us.
extension PeerDirectory {
  // MARK: The host's side

  /// Changes a peer's access to a document that it has from our person. The peer is told at once, or when it connects again.
  /// False if it does not have the document from us.
  public func setAccess(
    _ access: Access, to document: DocumentId, for peer: PeerId
  ) async throws(StorageError) -> Bool {
    guard peer != joined[document]?.host, grants.guests(on: document)[peer] != nil else { return false }
    guard access > .none else {
      try await unshare(document, from: peer)
      return true
    }
    defer {
      repo.policyChanged(for: document)
      tellGuests(of: document)
      news.tell(.networkChanged)
    }
    return try await grants.change(access, on: document, for: peer)
  }

  /// A guest gives the document back.
  func letGo(of document: DocumentId, by peer: PeerId) {
    guard grants.guests(on: document)[peer] != nil else { return }
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in try await grants.forget(document, of: peer) }
      self.toldGuests[peer]?[document] = nil
      self.links.release([peer])
      self.repo.policyChanged(for: document)
      self.tellGuests(of: document)
      self.news.tell(.gaveUp(peer, name: self.name(of: peer), document))
    }
  }

  // MARK: The guest's side

  /// The host has changed our access. Stored before it is reported: other processes of this person read it from the store.
  func hostChanged(_ access: Access, on document: DocumentId, host: PeerId) {
    guard access != joined[document]?.access else { return }
    joined[document]?.access = access
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in try await grants.storeJoined(document) }
      self.news.tell(.accessChanged(host, name: self.name(of: host), document, access))
    }
  }

  /// The host no longer shares the document with us: it is our own from now on.
  func hostEnded(_ document: DocumentId, host: PeerId) {
    let gone = grants.leaveHost(of: document)
    for peer in gone where grants.documents(for: peer).isEmpty {
      provider.forget(peer)
      if peer != host { provider.disconnect(peer) }
    }
    repo.policyChanged(for: document)
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in
        try await grants.storeJoined(document)
        try await grants.store(document)
        try await grants.storeIntroductions(to: document)
      }
      self.news.tell(.unshared(host, name: self.name(of: host), document))
    }
  }
}
