import Automerge
import Foundation

extension Repo {
  /// Creates a document from changes that were kept elsewhere, as chunks. A search for it that is running then finds
  /// it.
  ///
  /// - Returns: nil if the changes do not make a complete document, or if the document is being loaded from the store
  /// - Throws: `LoadError` if no chunk is good
  /// - Complexity: O(n) in the changes
  public func make(_ id: DocumentId, of changes: Data) throws -> DocHandle? {
    let document = Document()
    try document.applyEncodedChanges(encoded: changes)
    guard !document.heads().isEmpty, !document.hasWaitingChanges else { return nil }
    guard let entry = entries[id] else {
      let entry = DocumentEntry(id: id)
      entries[id] = entry
      return fill(entry, with: document)
    }
    guard let handle = entry.handle else { return nil }
    try handle.take(changes)
    return entry.isReady ? handle : nil
  }
}
