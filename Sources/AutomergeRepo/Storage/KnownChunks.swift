/// The chunks in the store whose changes the document in memory has, and those that it could not use.
///
/// Any other chunk was written by another process. The row of heads cannot show this: each process writes it with the
/// heads that it knows, so the last writer may hide what another process has stored.
struct KnownChunks {
  /// Chunks that could not be used when the document was loaded.
  let damaged: [StorageKey]
  /// Hexadecimal hashes of the chunks' bytes, their names in the store.
  private var names: Set<String> = []
  /// Whether chunks were written whose text is not stored beside them.
  var areTextsOld = false

  init(loaded: StoredChunks?) {
    damaged = loaded?.damaged ?? []
    if let loaded { read(loaded) }
  }

  /// Call when these chunks were read, and merged into the document.
  mutating func read(_ chunks: StoredChunks) { add(chunks.used.keys + chunks.damaged) }

  /// Call when these chunks were written from the document.
  mutating func wrote(_ chunks: [StoredItem]) {
    add(chunks.map(\.key))
    if !chunks.isEmpty { areTextsOld = true }
  }

  private mutating func add(_ keys: [StorageKey]) { names.formUnion(keys.compactMap(\.last)) }

  /// Call when the chunks were merged into this one, which may contain other processes' changes.
  ///
  /// - Parameter isInMemory: whether the document has all changes of that chunk
  mutating func merged(into chunk: StorageKey, isInMemory: Bool) {
    if isInMemory { add([chunk]) } else { names = [] }
  }

  /// Whether the store has no other chunk.
  /// - Complexity: O(n) in the chunks, whose bytes are not read
  func areAll(of id: DocumentId, in storage: any StorageProvider) async throws(StorageError) -> Bool {
    for kind in [StoredChunks.Kind.snapshot, .incremental] {
      let stored = try await storage.children(of: [id.description, kind.rawValue])
      guard has(stored) else { return false }
    }
    return true
  }

  /// Whether the document has these chunks.
  func has(_ stored: [String]) -> Bool { names.isSuperset(of: stored) }
}
