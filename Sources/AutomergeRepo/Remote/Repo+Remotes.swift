import Foundation

/// The stores of peers.
extension Repo {
  private static let storageIdKey: StorageKey = ["storage-adapter-id"]

  /// The id of our store, made and stored at the first call; nil without a store.
  ///
  /// Peers that connect from then on receive it. They recognise us by it after a restart, and compare only what was not
  /// certainly shared before; so call this before you add networks.
  @discardableResult
  public func storageId() async throws(StorageError) -> StorageId? {
    guard let storage else { return nil }
    let stored = try await storage.load(Self.storageIdKey).flatMap { String(data: $0, encoding: .utf8) }
    let id = StorageId(stored ?? UUID().uuidString.lowercased())
    if stored == nil { try await storage.save(Self.storageIdKey, Data(id.description.utf8)) }
    var metadata = metadata
    metadata.storageId = id
    update(metadata)
    return id
  }

  /// Subscribes to the heads that documents have in these stores, however many peers away.
  public func subscribeToRemotes(_ stores: Set<StorageId>) { remotes.heads.subscribe(to: stores) }

  /// The same, by automerge-repo-swift's label.
  public func subscribeToRemotes(remotes: [StorageId]) { subscribeToRemotes(Set(remotes)) }

  public func unsubscribeFromRemotes(_ stores: Set<StorageId>) { remotes.heads.unsubscribe(from: stores) }

  /// The heads that a document has in a followed store, as last reported.
  public func remoteHeads(of document: DocumentId, in store: StorageId) -> RemoteHeads? {
    remotes.heads.heads(of: document, in: store)
  }

  /// Reports about the stores that are followed, from now on. A reader that falls behind by more than 1024 misses the
  /// oldest.
  public func remoteHeadsUpdates() -> AsyncStream<RemoteHeads> {
    remotes.heads.observers.stream(.bufferingNewest(1024)) { $0 }
  }
}
