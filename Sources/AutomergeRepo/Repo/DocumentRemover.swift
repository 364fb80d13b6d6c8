import Automerge

/// Deletes documents for good. Until the store has done its part, nothing is lost.
@AutomergeRepo
struct DocumentRemover {
  let repo: Repo

  func delete(_ id: DocumentId) async throws(StorageError) {
    while let deletion = repo.entries[id], deletion.isBeingDeleted { await deletion.hasEnded() }
    let entry = repo.entries[id]
    // Collects what peers say about the document, and searches for it, until the store has answered.
    let place = DocumentEntry(deleting: id, entry)
    repo.entries[id] = place
    // Otherwise a write that is under way would bring the document back.
    await entry?.handle?.store?.close()
    do throws(StorageError) {
      try await repo.stored?.delete(id)
    } catch {
      // A store without transactions may have noted the deletion already.
      _ = try? await repo.stored?.undelete(id)
      restore(entry, place, error)
      throw error
    }
    forget(id)
    entry?.end(with: .deleted)
    if let handle = entry?.handle { detach(handle) }
    if repo.entries[id] === place { repo.loader.close(place, with: .deleted) }
    repo.observers.send(.documentDeleted(id))
  }

  /// Tells the observers of a deleted document for the last time.
  private func detach(_ handle: DocHandle) {
    handle.membership.isDeleted = true
    handle.deliver(.deleted)
    handle.claims.withdraw()
    handle.detach()
    handle.observers.endSequences()
  }

  private func forget(_ id: DocumentId) {
    repo.upkeep.left(id)
    repo.upkeep.catalogues.forget(id)
    repo.remotes.forget(id)
  }

  /// The store could not delete the document. One that was in use goes on, and is stored whole, since its store may have
  /// lost part of it and lacks what was changed meanwhile. A search ends.
  private func restore(_ entry: DocumentEntry?, _ place: DocumentEntry, _ error: StorageError) {
    guard repo.entries[place.id] === place else { return }
    guard let entry, entry.isReady, let handle = entry.handle else {
      entry?.end(with: .failed(error))
      entry?.handle?.detach()
      forget(place.id)
      return repo.loader.close(place, with: .failed(error))
    }
    entry.queued = place.queued
    repo.entries[place.id] = entry
    let companions = handle.companions
    repo.attachStore(to: handle, loaded: nil)
    handle.companions = companions
    handle.store?.storeWhole()
    place.end(with: .found(handle))
    meetAgain(handle)
    repo.loader.deliverQueue(of: entry)
  }

  /// Peers may have come and gone while the document had no entry.
  private func meetAgain(_ handle: DocHandle) {
    for peer in handle.sync.linkedPeers { handle.receive(.disconnected(peer)) }
    for peer in repo.connections.all { repo.introduce(peer, to: handle) }
  }
}
