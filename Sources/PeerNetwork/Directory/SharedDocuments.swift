import AutomergeRepo

/// The documents: the repo as the parts of the directory see it.
@AutomergeRepo
protocol SharedDocuments: AnyObject {
  /// Nil unless the document is in memory.
  func handle(of id: DocumentId) -> DocHandle?
  /// Whether the document is in memory or in the store.
  func isHere(_ id: DocumentId) async throws(StorageError) -> Bool
  /// Brings the document into memory, from the store or from peers that we may ask.
  func fetch(_ id: DocumentId) async
  /// Call when a peer's access has changed.
  func policyChanged(for document: DocumentId?)
}

extension Repo: SharedDocuments {
  func fetch(_ id: DocumentId) async { _ = await find(id) }
}
