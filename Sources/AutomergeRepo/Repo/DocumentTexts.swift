import Automerge
import Foundation

/// Reads texts of documents without bringing the documents into memory, for a program that shows or searches many.
///
/// A store keeps the texts of a document with a long history beside its chunks. They are checked, and used only while the store
/// has exactly the chunks whose texts they are; otherwise the history is read, and the texts are kept again.
@AutomergeRepo
public struct DocumentTexts {
  let repo: Repo

  /// Whether the repo keeps texts for later: when it releases a document, when it shuts down, and after it had to read a history. A server that never reads texts
  /// sets this to false.
  public var areKept: Bool {
    get { repo.released.keepsTexts }
    nonmutating set { repo.released.keepsTexts = newValue }
  }

  /// The text under a key of the document's root, in memory or in the store. Asks no peers. Nil if the document is not here, was
  /// deleted, or has no such text.
  ///
  /// - Complexity: O(n) in the document's texts if they are kept, otherwise in its history
  public func text(of id: DocumentId, at key: String) async throws(StorageError) -> String? {
    try await all(of: id)?[key]
  }

  /// The same for all texts under keys of the root.
  public func all(of id: DocumentId) async throws(StorageError) -> [String: String]? {
    if let handle = repo.handle(of: id) { return StoredTexts.all(of: handle.document) }
    guard let storage = repo.storage else { return nil }
    if try await StoredDocuments(storage: storage).isDeleted(id) { return nil }
    if let stored = try await StoredTexts.load(id, from: storage) { return stored.texts }
    return try await Self.read(id, storage, isKept: areKept)
  }

  /// Reads the history, and keeps the texts if that takes long.
  @concurrent
  private static func read(
    _ id: DocumentId, _ storage: any StorageProvider, isKept: Bool
  ) async throws(StorageError) -> [String: String]? {
    let chunks = try await StoredChunks.load(id, from: storage)
    guard let document = chunks.document else { return nil }
    let texts = StoredTexts.all(of: document)
    if isKept, chunks.isComplete, chunks.discardedRows.isEmpty,
      chunks.snapshotByteCount + chunks.incrementalByteCount >= StoredTexts.minimumByteCount
    {
      // If this fails, the next call takes as long once more.
      try? await StoredTexts(texts, ofChunks: chunks.used.keys.compactMap(\.last))?.save(as: id, in: storage)
    }
    return texts
  }

  /// Keeps the texts of all documents in memory that have changed, for the next reader. Call at the end of a program that does
  /// not call `shutDown`.
  public func keep() async throws(StorageError) {
    for handle in repo.handles { try await handle.store?.keepTexts() }
  }
}

extension Repo {
  public var texts: DocumentTexts { DocumentTexts(repo: self) }
}
