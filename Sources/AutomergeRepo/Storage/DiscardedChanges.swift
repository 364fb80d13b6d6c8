import Automerge
import Foundation

/// The stored hashes of changes that were removed from a document because its host refuses them. An older chunk, the journal of
/// a process or another process may still have them, and must not bring them back.
///
/// Each removal is a row of its own, named by its content, so that several processes can write at once.
enum DiscardedChanges {
  /// Larger than one person's changes of many years. Source: Storage.md, "Compaction".
  static let maximumChanges = 1 << 20

  /// The second component of their keys.
  static let name = "discarded"

  static func prefix(_ id: DocumentId) -> StorageKey { [id.description, name] }

  static func item(_ id: DocumentId, _ changes: Set<ChangeHash>) -> StoredItem {
    let data = StoredHeads.encode(changes)
    return StoredItem(key: prefix(id) + [StoredChunks.hash(data)], data: data)
  }

  static func decode(_ item: StoredItem) -> Set<ChangeHash> {
    StoredHeads.decode(item.data, atMost: maximumChanges) ?? []
  }
}

extension Document {
  /// Removes changes that were discarded earlier and have returned, from wherever. Keeps all of them if a change that
  /// was not discarded depends on one.
  ///
  /// - Returns: whether any were removed
  /// - Complexity: O(n) in the history if `discarded` is not empty
  @discardableResult
  func discardAgain(_ discarded: Set<ChangeHash>) -> Bool {
    guard !discarded.isEmpty else { return false }
    let gone = changesOnTop(of: discarded)
    guard !gone.isEmpty, gone.isSubset(of: discarded) else { return false }
    return (try? discard(gone, goingOnAs: ActorId())) != nil
  }
}

extension DocHandle {
  /// Stores which changes are about to be discarded, together with records about the document without these changes.
  /// From then on the document is loaded without them.
  public func announceDiscarding(
    _ changes: Set<ChangeHash>, with companions: [StorageChange]
  ) async throws(StorageError) {
    try await repo?.storage?.commit([.save(DiscardedChanges.item(id, changes))] + companions)
  }

  /// Undoes `announceDiscarding`: the changes stay.
  public func keepAnnounced(_ changes: Set<ChangeHash>) async throws(StorageError) {
    try await repo?.storage?.commit([.remove(DiscardedChanges.item(id, changes).key)])
  }
}
