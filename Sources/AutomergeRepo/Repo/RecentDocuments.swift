/// The documents to which something has happened, for work that is done at intervals. Its cost depends on the number of
/// these, not on that of all documents in memory.
///
///     something happens to a document ─► noted for every reader ─► a reader takes them at its next interval
struct RecentDocuments {
  /// The kinds of work that are done at intervals.
  enum Reader: Int, CaseIterable {
    /// Looking for syncs that have stopped.
    case check
    /// Releasing documents that are not in use.
    case release
    /// Comparing all that is shared with a peer.
    case catalogue
  }

  private var noted = [Set<DocumentId>](repeating: [], count: Reader.allCases.count)
  /// The document noted last: consecutive messages are mostly about one.
  private var last: DocumentId?

  mutating func note(_ id: DocumentId) {
    guard id != last else { return }
    last = id
    for reader in Reader.allCases { noted[reader.rawValue].insert(id) }
  }

  mutating func note(_ id: DocumentId, for reader: Reader) { noted[reader.rawValue].insert(id) }

  func count(_ reader: Reader) -> Int { noted[reader.rawValue].count }

  /// Returns what was noted for the reader since it last took it.
  mutating func take(_ reader: Reader) -> Set<DocumentId> {
    defer { noted[reader.rawValue] = [] }
    last = nil
    return noted[reader.rawValue]
  }

  /// Call when the document was dropped from memory: there is nothing to check or to release.
  mutating func left(_ id: DocumentId) {
    last = nil
    for reader in [Reader.check, .release] { noted[reader.rawValue].remove(id) }
  }
}
