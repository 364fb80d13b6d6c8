import Foundation

/// Reading and writing chunks.
extension DocumentCore {
  /// A new document from chunks. A bad chunk does not affect the good ones; throws only if none is good.
  static func load(
    _ data: [UInt8], actor: ActorId, verification: Verification = .immediate
  ) throws(LoadError) -> DocumentCore {
    var edits: TextEditCollector?
    let empty = DocumentCore(actor: actor)
    var filter: AuthorFilter?
    return try empty.take(data[...], edits: &edits, filter: &filter, verification: verification)
  }

  /// Applies everything good in some chunks. If this document is empty, another object may be returned: the loaded
  /// document.
  func take(
    _ data: ArraySlice<UInt8>, edits: inout TextEditCollector?, filter: inout AuthorFilter?,
    verification: Verification = .immediate, isOwn: Bool = false
  ) throws(LoadError) -> DocumentCore {
    commitPending()
    let taken = data.withUnsafeBufferPointer { takeRuns($0, edits: &edits, filter: filter) }
    if taken > 0, taken == data.count { return self }
    var intake = ChunkIntake(self, isAnyGood: taken > 0, isOwn: isOwn)
    try intake.take(data.dropFirst(taken), verification: verification, edits: &edits, filter: &filter)
    return intake.core
  }

  /// Like `take`, without copying what can be applied in place.
  func take(_ data: Data, edits: inout TextEditCollector?) throws(LoadError) -> DocumentCore {
    commitPending()
    let taken = data.withUnsafeBytes { takeRuns($0.bindMemory(to: UInt8.self), edits: &edits, filter: nil) }
    if taken > 0, taken == data.count { return self }
    var intake = ChunkIntake(self, isAnyGood: taken > 0), filter: AuthorFilter?
    try intake.take(
      Array(data.dropFirst(taken))[...], verification: .immediate, edits: &edits, filter: &filter)
    return intake.core
  }

  /// Applies what was read on another thread. If this document is empty, another object may be returned: the loaded
  /// document.
  func take(
    _ portion: ChangePortion, edits: inout TextEditCollector?, filter: inout AuthorFilter?
  ) throws(LoadError) -> DocumentCore {
    commitPending()
    var intake = ChunkIntake(self)
    try intake.take(portion, edits: &edits, filter: &filter)
    return intake.core
  }

  /// Throws, once, if a change of an equal actor was refused while other changes were applied.
  func expectNoEqualActors() throws(LoadError) {
    guard let error = equalActors else { return }
    equalActors = nil
    throw error
  }

  /// A change of this document as another replica would read it.
  func decodedChange(ofRow row: Int, atMost limit: Int = .max) throws(LoadError) -> DecodedChange {
    computeHashes()
    if let change = DecodedChange(singleRunOfRow: row, in: self) { return change }
    let chunk = Chunk(kind: .change, body: body(ofRow: row)[...], hash: graph.hashes[row])
    return try ChangeDecoder.decode(chunk, atMost: limit)
  }

  /// The document as one chunk, followed by the changes that wait for others.
  func save(deflating: Bool = true) -> [UInt8] {
    var saved = DocumentEncoder.chunk(self, deflating: deflating)
    for change in queue.all {
      let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
      saved += Chunk.encode(.change, body: body).bytes
    }
    firstNewRow = graph.count
    return saved
  }

  /// The changes since the last call, each as a chunk.
  func saveNew() -> [UInt8] {
    commitPending()
    var saved: [UInt8] = []
    for row in firstNewRow..<graph.count { saved += chunk(ofRow: row) }
    firstNewRow = graph.count
    return saved
  }

  /// The rows of `other` that this document lacks, in the order in which the reference core returns them. Source:
  /// automerge-format, section 4, "merge".
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
  /// A change of one run of typing or deletions, directly from the log; nil if it is another kind of change. It must
  /// have its hash.
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
    // A change lists other actors in the order of their bytes; with two of them this may not be the order of their
    // first use.
    guard named.count < 3 else { return nil }
    self.init(core.graph.hashes[row], core.header(ofRow: row), named.map { core.actors[$0] }, run: run, text: text)
  }
}
