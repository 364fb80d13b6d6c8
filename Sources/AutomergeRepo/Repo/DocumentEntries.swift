/// The documents that are in memory, being loaded, or searched for.
@AutomergeRepo
package final class DocumentEntries {
  private var byId: [DocumentId: DocumentEntry] = [:]

  nonisolated init() {}

  subscript(id: DocumentId) -> DocumentEntry? {
    get { byId[id] }
    set { byId[id] = newValue }
  }

  /// The entry of `id`. Makes a new one, which is to be loaded, if there is none.
  func entry(for id: DocumentId) -> DocumentEntry {
    if let entry = byId[id] { return entry }
    let entry = DocumentEntry(id: id)
    byId[id] = entry
    return entry
  }

  /// Whether the store is being read for this document, which takes long for a large one.
  package func isReading(_ id: DocumentId) -> Bool { byId[id].map { $0.handle == nil } ?? false }

  /// Whether the store is being read for some document.
  package var isReading: Bool { byId.values.contains { $0.handle == nil } }

  var ids: some Collection<DocumentId> { byId.keys }

  /// In no particular order.
  var all: some Collection<DocumentEntry> { byId.values }

  /// In the same order in every run.
  var sorted: [DocumentEntry] { Self.sorted(byId.values) }

  static func sorted(_ entries: some Sequence<DocumentEntry>) -> [DocumentEntry] {
    entries.sorted { $0.id.description < $1.id.description }
  }

  /// The documents that can be used, in no particular order.
  var readyHandles: [DocHandle] { byId.values.compactMap { $0.isReady ? $0.handle : nil } }

  /// The documents in memory that a peer has a link on.
  func linked(to peer: PeerId) -> [DocumentEntry] {
    Self.sorted(byId.values.filter { $0.handle?.sync.linkedPeers.contains(peer) ?? false })
  }
}
