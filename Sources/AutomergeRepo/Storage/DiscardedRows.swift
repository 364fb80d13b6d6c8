import Automerge

/// The changes that were removed from a document, and the rows in the store that say so.
struct DiscardedRows {
  private var changes: Set<ChangeHash> = []
  /// The rows that record them.
  private var rows: Set<StorageKey> = []
  private var isStored = true
  /// Whether the chunks in the store may still contain some of the changes, so that they have to be merged.
  var mustMerge = false

  init(loaded: StoredChunks?) {
    guard let loaded else { return }
    (changes, rows, mustMerge) = (loaded.discarded, loaded.discardedRows, loaded.hasDiscarded)
  }

  mutating func discard(_ new: Set<ChangeHash>) {
    if !new.isSubset(of: changes) { isStored = false }
    changes.formUnion(new)
    mustMerge = true
  }

  /// Call when a write failed: it may have been the one that recorded these changes.
  mutating func writeFailed() { isStored = false }

  /// What to write. Changes that another person has brought again stay in the document.
  mutating func takeChanges(for id: DocumentId, _ document: Document) -> [StorageChange] {
    let gone = document.unknown(changes)
    let outdated = gone.count == changes.count ? [] : rows
    guard !outdated.isEmpty || !isStored else { return [] }
    (changes, isStored) = (gone, true)
    let new = gone.isEmpty ? [] : [DiscardedChanges.item(id, gone)]
    let keys = Set(new.map(\.key))
    rows = rows.subtracting(outdated).union(keys)
    return outdated.subtracting(keys).map { .remove($0) } + new.map { .save($0) }
  }
}
