import Automerge

/// The changes that were removed from a document, and what the store has of this.
struct DiscardedRows {
  private var changes: Set<ChangeHash> = []
  /// The rows that record them.
  private var rows: Set<StorageKey> = []
  private var isStored = true
  /// Whether some of the changes may still be in the chunks, so that these have to be merged.
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

  /// A write failed, and what it said about these changes with it.
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
