import AutomergeRepo

extension PeerDirectory {
  /// Changes a peer's access to a document that it has from our person. The peer is told at once, or when it connects again.
  /// False if it does not have the document from us.
  public func setAccess(
    _ access: Access, to document: DocumentId, for peer: PeerId
  ) async throws(StorageError) -> Bool {
    guard guests.isGuest(peer, on: document) else { return false }
    guard access > .none else {
      try await unshare(document, from: peer)
      return true
    }
    return try await guests.change(access, to: document, for: peer)
  }
}
