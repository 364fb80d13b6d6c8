import Automerge
import Foundation

/// Adds documents under ids of the program's own, which the repo may be looking for.
@AutomergeRepo
struct DocumentMaker {
  let repo: Repo

  func make(_ id: DocumentId, of document: Document) async throws(RepoError) -> DocHandle {
    guard !repo.connections.isStopped else { throw .stopped }
    // Collects the peers' messages about the document, and searches for it, until the document is here.
    let entry = repo.entries.entry(for: id)
    guard !entry.isBeingDeleted else { throw .deleted(id) }
    if entry.handle == nil {
      // Ends with a document, or with the entry.
      entry.isBeingMade = true
      let outcome = await repo.loader.read(id)
      // A search that read the same may have ended meanwhile, or the document may just have been deleted.
      guard repo.entries[id] === entry else { return try await make(id, of: document) }
      if entry.handle == nil { return try fill(entry, with: document, outcome) }
    }
    // The chunks of a damaged document are in the store, though no document could be made of them.
    guard let handle = entry.handle, !entry.isReady, handle.damagedChunks.isEmpty else { throw .alreadyExists(id) }
    document.commitWith(message: nil, timestamp: repo.clock.date)
    // A document without changes would end no search.
    if document.heads().isEmpty { document.commitEmpty(timestamp: repo.clock.date) }
    try Self.merge(document, into: handle)
    return handle
  }

  /// Gives the document to an entry that has none, unless the store has one.
  private func fill(
    _ entry: DocumentEntry, with document: Document, _ outcome: DocumentLoader.ReadOutcome
  ) throws(RepoError) -> DocHandle {
    if case .stored(let chunks) = outcome, chunks.isNothing { return repo.fill(entry, with: document) }
    repo.loader.loaded(entry, outcome)
    switch outcome {
    case .stored: throw .alreadyExists(entry.id)
    case .deleted: throw .deleted(entry.id)
    case .failed(let error): throw .storage(error)
    }
  }

  @concurrent
  static func document(of data: Data) async throws(RepoError) -> Document {
    do { return try Document(data) } catch { throw .notADocument(reason: "\(error)") }
  }

  static func merge(_ document: Document, into handle: DocHandle) throws(RepoError) {
    do { try handle.merge(document) } catch { throw .notADocument(reason: "\(error)") }
  }
}
