/// The chunks in the store that the document in memory has all changes of, and those that it could not use.
///
/// Any other chunk was written by another process. The row of heads cannot show that: each process writes it with the heads that
/// it knows itself, so the last one to write it may hide what another has stored.
struct KnownChunks {
  /// Chunks that could not be used when the document was loaded.
  let damaged: [StorageKey]
  /// Hexadecimal hashes of the chunks' bytes, their names in the store.
  private var names: Set<String> = []

  init(loaded: StoredChunks?) {
    damaged = loaded?.damaged ?? []
    if let loaded { read(loaded) }
  }

  /// Call when these were read, and merged into the document.
  mutating func read(_ chunks: StoredChunks) { add(chunks.used.keys + chunks.damaged) }

  /// Call when these were written from the document.
  mutating func wrote(_ chunks: [StoredItem]) { add(chunks.map(\.key)) }

  private mutating func add(_ keys: [StorageKey]) { names.formUnion(keys.compactMap(\.last)) }

  /// Call when the chunks were merged: the one that takes their place may have other processes' changes.
  mutating func merged() { names = [] }

  /// Whether these are all chunks in the store.
  /// - Complexity: O(n) in the chunks, whose bytes are not read
  func areAll(of id: DocumentId, in storage: any StorageProvider) async throws(StorageError) -> Bool {
    for kind in [StoredChunks.Kind.snapshot, .incremental] {
      let stored = try await storage.children(of: [id.description, kind.rawValue])
      guard names.isSuperset(of: stored) else { return false }
    }
    return true
  }
}
