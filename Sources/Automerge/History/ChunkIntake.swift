/// Applies chunks to a document: everything in them that is good, since a bad chunk does not affect the others.
///
/// It is an error only if nothing was good. An empty document takes over the first document chunk as it was loaded.
struct ChunkIntake {
  /// The document that was passed in, or the loaded one that replaces it.
  private(set) var core: DocumentCore
  /// Changes that have been read and are not in the document yet.
  private var changes: [DecodedChange] = []
  private var firstError: LoadError?
  private var isAnyGood: Bool
  /// Documents whose changes are here, or will be.
  private var seenDocuments: Set<ChangeHash> = []
  private let isOwn: Bool
  private var denseOpsLeft: Int

  /// - Parameters:
  ///   - isAnyGood: whether something that came with the chunks has been applied already
  ///   - isOwn: whether the chunks were written here, so that whatever they hold was accepted once
  init(_ core: DocumentCore, isAnyGood: Bool = false, isOwn: Bool = false) {
    (self.core, self.isAnyGood, self.isOwn) = (core, isAnyGood, isOwn)
    denseOpsLeft = FormatLimits.denseOps(isOwn: isOwn)
  }

  private var denseOps: Int { FormatLimits.denseOps(isOwn: isOwn) }

  /// Applies chunks. No transaction is pending.
  mutating func take(
    _ data: ArraySlice<UInt8>, verification: Verification, edits: inout TextEditCollector?,
    filter: inout AuthorFilter?
  ) throws(LoadError) {
    var reader = ChunkReader(data)
    while let next = reader.next() {
      do throws(LoadError) {
        let chunk: Chunk
        do throws(FormatError) { chunk = try next.get() } catch { throw .format(error) }
        try read(chunk, verification, edits: &edits, filter: filter)
      } catch {
        firstError = firstError ?? error
      }
      // Without some of the changes, the document would look as if it were whole.
      guard denseOpsLeft >= 0 else { throw .format(.tooMany(limit: denseOps, at: 0)) }
    }
    try takeChanges(edits: &edits, filter: &filter)
  }

  /// The same for chunks that were read on another thread.
  mutating func take(
    _ portion: ChangePortion, edits: inout TextEditCollector?, filter: inout AuthorFilter?
  ) throws(LoadError) {
    filter?.fault = nil
    guard let loaded = portion.loaded else {
      changes = portion.changes
      return try takeChanges(edits: &edits, filter: &filter)
    }
    guard core.graph.count == 0, core.queue.isEmpty else { throw .inconsistentDocument(.order) }
    try adopt(loaded, edits: &edits, filter: filter)
  }

  private mutating func read(
    _ chunk: Chunk, _ verification: Verification, edits: inout TextEditCollector?, filter: AuthorFilter?
  ) throws(LoadError) {
    switch chunk.kind {
    case .change, .compressedChange:
      append([try ChangeDecoder.decode(chunk, denseOps: denseOps)], of: chunk)
      // Whether it is good is only known once it is in the document.
      return
    case .document:
      if core.graph.count == 0, core.queue.isEmpty, changes.isEmpty {
        let loaded = try DocumentDecoder.decode(chunk, verification: verification, isOwn: isOwn)
        try adopt(loaded, edits: &edits, filter: filter)
        if verification == .deferred { core.graph.expect(loaded.heads) }
      } else {
        // A file may repeat one any number of times.
        if seenDocuments.insert(chunk.hash).inserted { append(try missingChanges(in: chunk), of: chunk) }
      }
    case .bundle: append(try BundleDecoder.decode(chunk), of: chunk)
    }
    isAnyGood = true
  }

  private mutating func append(_ new: [DecodedChange], of chunk: Chunk) {
    denseOpsLeft -= max(0, new.reduce(0) { $0 + $1.opWeight } - chunk.body.count)
    changes += new
  }

  /// Applies the changes that have been read; throws if neither any of them nor anything before them is good.
  private mutating func takeChanges(
    edits: inout TextEditCollector?, filter: inout AuthorFilter?
  ) throws(LoadError) {
    filter?.sift(&changes) { [core] in core.row(of: $0) != nil }
    if filter?.leftOut.isEmpty == false { isAnyGood = true }
    if !changes.isEmpty {
      do throws(LoadError) { try core.receive(changes, edits: &edits, areOwn: isOwn) } catch {
        firstError = firstError ?? error
      }
      // A change is good if it is in the document now, or waits for its dependencies.
      isAnyGood =
        isAnyGood || changes.contains { [core] in core.row(of: $0.hash) != nil || core.queue[$0.hash] != nil }
    }
    filter?.fault = firstError
    guard let firstError else { return }
    if !isAnyGood { throw firstError }
    if case .equalActors = firstError { core.equalActors = firstError }
  }

  /// Replaces the empty document by a loaded one.
  private mutating func adopt(
    _ loaded: DocumentDecoder.Loaded, edits: inout TextEditCollector?, filter: AuthorFilter?
  ) throws(LoadError) {
    let core = DocumentCore(loaded, like: core, edits: &edits)
    for author in (filter?.attested ?? [:]).keys {
      guard let index = core.actors.find(author), let row = core.graph.lastRow(of: index) else { continue }
      core.computeHashes()
      throw .forged(core.graph.hashes[Int(row)])
    }
    self.core = core
  }

  private func missingChanges(in chunk: Chunk) throws(LoadError) -> [DecodedChange] {
    let loaded = try DocumentDecoder.decode(chunk, isOwn: isOwn)
    let other = DocumentCore(actor: core.actor, store: loaded.store, log: loaded.log, graph: loaded.graph)
    core.computeHashes()
    var missing: [DecodedChange] = []
    for (row, hash) in loaded.graph.hashes.enumerated() where core.graph.row(of: hash) == nil {
      missing.append(try other.decodedChange(ofRow: row))
    }
    return missing
  }
}

extension DocumentCore {
  fileprivate convenience init(
    _ loaded: DocumentDecoder.Loaded, like other: DocumentCore, edits: inout TextEditCollector?
  ) {
    self.init(actor: other.actor, store: loaded.store, log: loaded.log, graph: loaded.graph)
    isolation = other.isolation
    guard edits != nil else { return }
    for id in store.sortedIds where store.type(of: id) == .makeText {
      guard let tree = store.sequence(id) else { continue }
      edits?.replace(objId(id), at: 0, deleted: [], inserted: tree.utf8(0..<tree.total[.utf8]))
    }
  }
}
