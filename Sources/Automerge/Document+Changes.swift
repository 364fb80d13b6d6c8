import Foundation

/// Making, naming, saving and exchanging changes.
extension Document {
  /// Ends the pending transaction, whose operations become one change. Does nothing if nothing is pending.
  public func commitWith(message: String? = nil, timestamp: Date = Date()) {
    let time = seconds(of: timestamp)
    withKeystrokes { state in
      if message == nil, state.keystrokes.keepCommit(time: time) { return }
      state.core.apply(&state.keystrokes)
      state.core.commit(message: message, time: time)
      state.keystrokes.didCommit()
    }
  }

  /// Makes a change without operations, after committing what is pending. It gives a document without content heads,
  /// which peers and stores can refer to.
  package func commitEmpty(message: String? = nil, timestamp: Date = Date()) {
    let time = seconds(of: timestamp)
    withCore { $0.commitEmpty(message: message, time: time) }
  }

  /// The changes that no other change depends on: the name of the document's present state.
  public func heads() -> Set<ChangeHash> {
    withCore { core in
      core.commitPending()
      guard let isolation = core.isolation else { return core.headSet }
      core.computeHashes()
      return Set(isolation.rows.map { core.graph.hashes[$0] })
    }
  }

  /// All changes, in the order in which this replica received them.
  public func getHistory() -> [ChangeHash] {
    withCore { core in
      core.commitPending()
      core.computeHashes()
      return core.graph.hashes
    }
  }

  /// How many changes the document has.
  package var changeCount: Int { withCore { $0.graph.count } }

  /// The hashes that are not changes of this document.
  public func unknown(_ hashes: Set<ChangeHash>) -> Set<ChangeHash> {
    withCore { core in hashes.filter { core.row(of: $0) == nil } }
  }

  /// The whole document with its history, in the form of a file.
  public func save() -> Data { withCore { Data($0.save()) } }

  /// Like `save`. Without deflating, all columns stay uncompressed, for callers that compress the whole or nothing.
  public func save(deflating: Bool) -> Data { withCore { Data($0.save(deflating: deflating)) } }

  /// The changes since the last `save` or `encodeNewChanges` of this object, as chunks; all, if there was none since it was
  /// made, loaded or forked.
  public func encodeNewChanges() -> Data { withCore { Data($0.saveNew()) } }

  /// The changes that are neither among `heads` nor their ancestors, as chunks. Unknown heads are ignored.
  public func encodeChangesSince(heads: Set<ChangeHash>) throws -> Data {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return Data(rows.flatMap { core.chunk(ofRow: $0) })
    }
  }

  /// The changes that this replica has received since it had `count`, as chunks, and how many it has now. Nil if there
  /// are none.
  ///
  /// - Complexity: O(n) in these changes
  package func chunks(after count: Int) -> (bytes: [UInt8], count: Int)? {
    withCore { core in
      core.commitPending()
      let now = core.graph.count
      guard now > count else { return nil }
      return (now == count + 1 ? core.chunk(ofRow: count) : (count..<now).flatMap { core.chunk(ofRow: $0) }, now)
    }
  }

  /// The changes that are neither among `heads` nor their ancestors, as chunks, and how many changes the document has.
  package func chunks(since heads: Set<ChangeHash>) -> (bytes: [UInt8], count: Int) {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return (rows.flatMap { core.chunk(ofRow: $0) }, core.graph.count)
    }
  }

  /// Some changes as bundles, which take less space than the changes one by one. Their ancestors are not included.
  /// Automerge's core reads bundles from 0.11 on, but not in 0.5. Throws `DocError.unknownChange` if the document lacks
  /// one of the changes.
  /// - Complexity: O(n log n) in the operations.
  public func saveBundle(_ changes: Set<ChangeHash>) throws -> Data {
    try withCore { core in
      core.commitPending()
      var rows: [Int] = []
      for hash in changes {
        guard let row = core.row(of: hash) else { throw DocError.unknownChange(hash) }
        rows.append(row)
      }
      return Data(BundleEncoder.chunks(of: rows.sorted(), in: core))
    }
  }

  /// Applies the changes in some chunks. A bad chunk does not affect the good ones; throws `LoadError` if none is good,
  /// and `LoadError.equalActors` even if others are.
  public func applyEncodedChanges(encoded: Data) throws {
    var edits: TextEditCollector?
    try take(encoded, &edits)
  }

  /// Applies chunks that may depend on one another in any order.
  ///
  /// - Parameter areOwn: whether this replica wrote them: then no limit for foreign bytes holds
  /// - Returns: the indices of the chunks that cannot be used: those for which `applyEncodedChanges` throws
  /// - Complexity: O(n) in their bytes
  package func applyChunks(_ chunks: [Data], areOwn: Bool) -> [Int] {
    UnorderedChunks(document: self, areOwn: areOwn).apply(chunks)
  }

  /// Like `applyEncodedChanges`. Returns the resulting edits of texts.
  public func applyEncodedChangesWithTextEdits(encoded: Data) throws -> [TextEdit] {
    var edits: TextEditCollector? = TextEditCollector()
    try take(encoded, &edits)
    return edits?.edits ?? []
  }

  /// Like `applyEncodedChanges`; returns the resulting patches.
  /// - Complexity: that of `difference(since:)`.
  public func applyEncodedChangesWithPatches(encoded: Data) throws -> [Patch] {
    try replacingCore { core in
      core.commitPending()
      let heads = core.graph.heads
      var edits: TextEditCollector?
      core = try core.take(encoded, edits: &edits)
      try core.expectNoEqualActors()
      return core.patches(since: heads, encoding: textEncoding)
    }
  }

  private func take(_ encoded: Data, _ edits: inout TextEditCollector?) throws {
    try replacingCore { core in
      core = try core.take(encoded, edits: &edits)
      try core.expectNoEqualActors()
    }
  }

  /// Applies the changes of another document that this one lacks. Throws `LoadError.equalActors` if both have different
  /// changes of one actor; everything else is applied.
  public func merge(other: Document) throws {
    var edits: TextEditCollector?
    try merge(other, &edits)
  }

  /// The same under the name that automerge-swift's quick start uses.
  public func merge(_ other: Document) throws { try merge(other: other) }

  /// Like `merge`. Returns the resulting edits of texts.
  public func mergeWithTextEdits(other: Document) throws -> [TextEdit] {
    var edits: TextEditCollector? = TextEditCollector()
    try merge(other, &edits)
    return edits?.edits ?? []
  }

  /// Like `merge`; returns the resulting patches.
  /// - Complexity: that of `difference(since:)`.
  public func mergeWithPatches(other: Document) throws -> [Patch] {
    var edits: TextEditCollector?
    return try merge(other, &edits) { core, heads in core.patches(since: heads, encoding: textEncoding) } ?? []
  }

  private func merge(_ other: Document, _ edits: inout TextEditCollector?) throws {
    _ = try merge(other, &edits) { _, _ in }
  }

  /// Passes the new state, and the rows of the old heads, to `report`. Nil if the other document is this one.
  private func merge<Report: Sendable>(
    _ other: Document, _ edits: inout TextEditCollector?, report: (DocumentCore, [UInt32]) -> Report
  ) throws -> Report? {
    guard other !== self else { return nil }
    return try withCore(and: other) { core, other in
      core.commitPending()
      let heads = core.graph.heads
      other.commitPending()
      var changes: [DecodedChange] = []
      for row in core.rowsMissing(from: other) { changes.append(try other.decodedChange(ofRow: row)) }
      try core.receive(changes, edits: &edits)
      return report(core, heads)
    }
  }
}
