import Automerge
import Foundation

extension Repo {
  /// Adds a document out of changes that were kept elsewhere, as chunks. It may be being looked for at this moment: then it is
  /// found.
  ///
  /// - Returns: nil if the changes are not all of a document, or if the store is just being asked for it
  /// - Throws: `LoadError` if no chunk is good
  /// - Complexity: O(n) in the changes
  public func make(_ id: DocumentId, of changes: Data) throws -> DocHandle? {
    let document = Document()
    try document.applyEncodedChanges(encoded: changes)
    guard !document.heads().isEmpty, StoredChunks.isComplete(document) else { return nil }
    guard let slot = slots[id] else { return try create(document, id: id) }
    guard let handle = slot.handle else { return nil }
    try handle.take(changes)
    return slot.isReady ? handle : nil
  }
}
