import Foundation

/// Which documents a store has, and which were deleted permanently.
struct StoredDocuments {
  let storage: any StorageProvider

  private static let deletions = "deleted"

  /// The key whose presence says that the document was deleted.
  private static func tombstone(of id: DocumentId) -> StorageKey { [deletions, id.description] }

  func ids() async throws(StorageError) -> Set<DocumentId> {
    let stored = try await storage.children(of: []).compactMap { DocumentId($0) }
    // Another process may have stored something of a document after it was deleted.
    let deleted = try await storage.children(of: [Self.deletions]).compactMap { DocumentId($0) }
    return Set(stored).subtracting(deleted)
  }

  /// Whether the store has some of the document, and it was not deleted.
  func contains(_ id: DocumentId) async throws(StorageError) -> Bool {
    let kinds = try await storage.children(of: [id.description])
    guard kinds.contains(where: { StoredChunks.Kind(rawValue: $0) != nil }) else { return false }
    return try await !isDeleted(id)
  }

  func isDeleted(_ id: DocumentId) async throws(StorageError) -> Bool {
    try await storage.load(Self.tombstone(of: id)) != nil
  }

  /// Removes everything of the document, and notes that it was deleted.
  func delete(_ id: DocumentId) async throws(StorageError) {
    let tombstone = StoredItem(key: Self.tombstone(of: id), data: Data(CBOR.bool(true).encoded()))
    try await storage.commit([
      .save(tombstone), .removeRange([id.description]), .remove(StoredHeads.key(id)), .remove(StoredTexts.key(id)),
    ])
  }

  /// Forgets that the document was deleted.
  func undelete(_ id: DocumentId) async throws(StorageError) { try await storage.remove(Self.tombstone(of: id)) }
}
