import Foundation

/// Chunks in and out.
extension DocumentCore {
  /// A new document from chunks. A bad chunk never takes a good one with it; it is an error only if nothing was good.
  static func load(
    _ data: [UInt8], actor: ActorId, verification: Verification = .immediate
  ) throws(LoadError) -> DocumentCore {
    var edits: TextEditCollector?
    let empty = DocumentCore(actor: actor)
    var filter: AuthorFilter?
    let core = try empty.take(data[...], edits: &edits, filter: &filter, verification: verification)
    core.firstNewRow = core.graph.count
    return core
  }

  /// Takes in everything good in some chunks. An empty document may come out as another object: the loaded one.
  func take(
    _ data: ArraySlice<UInt8>, edits: inout TextEditCollector?, filter: inout AuthorFilter?,
    verification: Verification = .immediate
  ) throws(LoadError) -> DocumentCore {
    commitPending()
    let taken = data.withUnsafeBufferPointer { takeRuns($0, edits: &edits, filter: filter) }
    if taken > 0, taken == data.count { return self }
    return try takeAny(
      data.dropFirst(taken), edits: &edits, isAnyGood: taken > 0, filter: &filter, verification: verification)
  }

  /// As `take`; what can be taken as it stands is not copied.
  func take(_ data: Data, edits: inout TextEditCollector?) throws(LoadError) -> DocumentCore {
    commitPending()
    let taken = data.withUnsafeBytes { takeRuns($0.bindMemory(to: UInt8.self), edits: &edits, filter: nil) }
    if taken > 0, taken == data.count { return self }
    var filter: AuthorFilter?
    return try takeAny(Array(data.dropFirst(taken))[...], edits: &edits, isAnyGood: taken > 0, filter: &filter)
  }

  private func takeAny(
    _ data: ArraySlice<UInt8>, edits: inout TextEditCollector?, isAnyGood: Bool,
    filter: inout AuthorFilter?, verification: Verification = .immediate
  ) throws(LoadError) -> DocumentCore {
    var core = self
    var changes: [DecodedChange] = []
    var firstError: LoadError?
    var isAnyGood = isAnyGood
    var reader = ChunkReader(data)
    while let next = reader.next() {
      do throws(LoadError) {
        let chunk: Chunk
        do throws(FormatError) { chunk = try next.get() } catch { throw .format(error) }
        switch chunk.kind {
        case .change, .compressedChange:
          changes.append(try ChangeDecoder.decode(chunk))
          continue
        case .document:
          if core.graph.count == 0, core.queue.isEmpty, changes.isEmpty {
            let loaded = try DocumentDecoder.decode(chunk, verification: verification)
            core = try core.adopting(loaded, edits: &edits, filter: filter)
            if verification == .deferred { core.unverified = (loaded.graph.heads, loaded.heads) }
          } else {
            changes += try core.missingChanges(in: chunk)
          }
        case .bundle: changes += try BundleDecoder.decode(chunk)
        }
        isAnyGood = true
      } catch {
        firstError = firstError ?? error
      }
    }
    try core.take(changes, edits: &edits, filter: &filter, isAnyGood: isAnyGood, firstError)
    return core
  }

  /// Takes in changes that have been read; throws if none of them is good, nor anything before them.
  private func take(
    _ changes: [DecodedChange], edits: inout TextEditCollector?, filter: inout AuthorFilter?, isAnyGood: Bool,
    _ error: LoadError?
  ) throws(LoadError) {
    var (changes, firstError, isAnyGood) = (changes, error, isAnyGood)
    filter?.sift(&changes) { row(of: $0) != nil }
    if filter?.leftOut.isEmpty == false { isAnyGood = true }
    if !changes.isEmpty {
      do throws(LoadError) { try receive(changes, edits: &edits) } catch { firstError = firstError ?? error }
      // Good is what is in the document now, or waits for what it depends on.
      isAnyGood = isAnyGood || changes.contains { row(of: $0.hash) != nil || queue[$0.hash] != nil }
    }
    filter?.fault = firstError
    guard let firstError else { return }
    if !isAnyGood { throw firstError }
    if case .equalActors = firstError { equalActors = firstError }
  }

  /// Throws if something good was taken in beside a change that an equal actor made; but once.
  func expectNoEqualActors() throws(LoadError) {
    guard let error = equalActors else { return }
    equalActors = nil
    throw error
  }

  /// Takes in what was read elsewhere. An empty document may come out as another object: the loaded one.
  func take(
    _ portion: ChangePortion, edits: inout TextEditCollector?, filter: inout AuthorFilter?
  ) throws(LoadError) -> DocumentCore {
    commitPending()
    filter?.fault = nil
    if let loaded = portion.loaded {
      guard graph.count == 0, queue.isEmpty else { throw .inconsistentDocument(.order) }
      return try adopting(loaded, edits: &edits, filter: filter)
    }
    try take(portion.changes, edits: &edits, filter: &filter, isAnyGood: false, nil)
    return self
  }

  /// A loaded document in the place of this empty one.
  private func adopting(
    _ loaded: DocumentDecoder.Loaded, edits: inout TextEditCollector?, filter: AuthorFilter?
  ) throws(LoadError) -> DocumentCore {
    let core = DocumentCore(loaded, like: self, edits: &edits)
    for author in (filter?.attested ?? [:]).keys {
      guard let index = core.actors.find(author), let row = core.graph.lastRow(of: index) else { continue }
      core.computeHashes()
      throw .forged(core.graph.hashes[Int(row)])
    }
    return core
  }

  private convenience init(
    _ loaded: DocumentDecoder.Loaded, like other: DocumentCore, edits: inout TextEditCollector?
  ) {
    self.init(actor: other.actor, store: loaded.store, log: loaded.log, graph: loaded.graph)
    firstNewRow = 0
    isolation = other.isolation
    guard edits != nil else { return }
    for id in store.sortedIds where store.type(of: id) == .makeText {
      guard let tree = store.sequence(id) else { continue }
      edits?.replace(objId(id), at: 0, deleted: [], inserted: tree.utf8(0..<tree.total[.utf8]))
    }
  }

  private func missingChanges(in chunk: Chunk) throws(LoadError) -> [DecodedChange] {
    let loaded = try DocumentDecoder.decode(chunk)
    let other = DocumentCore(actor: actor, store: loaded.store, log: loaded.log, graph: loaded.graph)
    computeHashes()
    var missing: [DecodedChange] = []
    for (row, hash) in loaded.graph.hashes.enumerated() where graph.row(of: hash) == nil {
      missing.append(try other.decodedChange(ofRow: row))
    }
    return missing
  }

  /// A change of this document as another replica would read it.
  func decodedChange(ofRow row: Int, atMost limit: Int = .max) throws(LoadError) -> DecodedChange {
    computeHashes()
    if let change = DecodedChange(singleRunOfRow: row, in: self) { return change }
    let chunk = Chunk(kind: .change, body: body(ofRow: row)[...], hash: graph.hashes[row])
    return try ChangeDecoder.decode(chunk, atMost: limit)
  }

  /// The document as one chunk, and behind it the changes that wait for others.
  func save(deflating: Bool = true) -> [UInt8] {
    var saved = DocumentEncoder.chunk(self, deflating: deflating)
    for change in queue.waiting {
      let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
      saved += Chunk.encode(.change, body: body).bytes
    }
    firstNewRow = graph.count
    return saved
  }

  /// The changes since the last time, each as a chunk.
  func saveNew() -> [UInt8] {
    commitPending()
    var saved: [UInt8] = []
    for row in firstNewRow..<graph.count { saved += chunk(ofRow: row) }
    firstNewRow = graph.count
    return saved
  }

  /// Rows of `other` that this document lacks, in the order in which the reference core hands them over.
  /// Source: automerge-format, section 4, "merge".
  func rowsMissing(from other: DocumentCore) -> [Int] {
    computeHashes()
    other.computeHashes()
    var stack = other.graph.heads.sorted { other.graph.hashes[Int($0)] < other.graph.hashes[Int($1)] }
    var seen: Set<UInt32> = [], order: [Int] = []
    while let row = stack.popLast() {
      guard graph.row(of: other.graph.hashes[Int(row)]) == nil, seen.insert(row).inserted else { continue }
      order.append(Int(row))
      stack += other.graph.deps(of: Int(row))
    }
    return order.reversed()
  }
}

extension DecodedChange {
  /// A change of one run of typing or deletions, straight from the log; nil if it is something else. It has its hash.
  fileprivate init?(singleRunOfRow row: Int, in core: DocumentCore) {
    let record = core.graph.records[row]
    guard var run = core.log.singleRun(in: record.ops), run.kind != .other else { return nil }
    var named = [record.actor]
    func number(_ id: OpId) -> OpId {
      if id.isZero { return .zero }
      let number = named.firstIndex(of: id.actor) ?? named.count
      if number == named.count { named.append(id.actor) }
      return OpId(counter: id.counter, actor: UInt32(number))
    }
    (run.object, run.target) = (number(run.object), number(run.target))
    let text = run.kind == .insertText ? Array(core.bytes.bytes[run.textRange]) : []
    run.text = 0
    // A change lists the others in the order of their bytes; with two of them that may not be the order of mention.
    guard named.count < 3 else { return nil }
    self.init(core.graph.hashes[row], core.header(ofRow: row), named.map { core.actors[$0] }, run: run, text: text)
  }
}
