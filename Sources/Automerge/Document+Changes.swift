import Foundation

/// Changes: making, naming, saving, exchanging them.
extension Document {
  /// Ends the pending transaction; its operations become one change. Nothing pending makes nothing.
  public func commitWith(message: String? = nil, timestamp: Date = Date()) {
    let time = seconds(of: timestamp)
    withKeystrokes { state in
      if message == nil, state.keystrokes.keepCommit(time: time) { return }
      state.core.apply(&state.keystrokes)
      state.core.commit(message: message, time: time)
      state.keystrokes.didCommit()
    }
  }

  /// Makes a change without operations, after what is open: so a document without content has heads, which peers and stores can
  /// speak of.
  package func commitEmpty(message: String? = nil, timestamp: Date = Date()) {
    let time = seconds(of: timestamp)
    withCore { $0.commitEmpty(message: message, time: time) }
  }

  /// The changes that no other change comes after: the name of the document's present state.
  public func heads() -> Set<ChangeHash> {
    withCore { core in
      core.commitPending()
      guard let isolation = core.isolation else { return core.headSet }
      core.computeHashes()
      return Set(isolation.rows.map { core.graph.hashes[$0] })
    }
  }

  /// All changes, in the order in which they came to be in this replica.
  public func getHistory() -> [ChangeHash] {
    withCore { core in
      core.commitPending()
      core.computeHashes()
      return core.graph.hashes
    }
  }

  /// Of `hashes`, those that are not changes of this document.
  public func unknown(_ hashes: Set<ChangeHash>) -> Set<ChangeHash> {
    withCore { core in hashes.filter { core.row(of: $0) == nil } }
  }

  /// The whole document with its history as a file.
  public func save() -> Data { withCore { Data($0.save()) } }

  /// As `save`; without deflating all columns stand as they are, to be compressed with something else or not at all.
  public func save(deflating: Bool) -> Data { withCore { Data($0.save(deflating: deflating)) } }

  /// The changes since the last `save` or `encodeNewChanges`, as chunks.
  public func encodeNewChanges() -> Data { withCore { Data($0.saveNew()) } }

  /// The changes that are not among `heads` nor come before them, as chunks. Unknown heads count for nothing.
  public func encodeChangesSince(heads: Set<ChangeHash>) throws -> Data {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return Data(rows.flatMap { core.chunk(ofRow: $0) })
    }
  }

  /// The changes that have come to this replica since it had `count`, as chunks; and how many it has now. Nil if none has.
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

  /// The changes that are not among `heads` nor come before them, as chunks; and how many the document has.
  package func chunks(since heads: Set<ChangeHash>) -> (bytes: [UInt8], count: Int) {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return (rows.flatMap { core.chunk(ofRow: $0) }, core.graph.count)
    }
  }

  /// Some changes as bundles, which take less room than the changes one by one. The changes before them are not in it. Automerge's
  /// core 0.11 reads bundles, 0.5 does not. Throws `DocError.unknownChange` if the document does not have one of them.
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

  /// Takes in the changes of some chunks. A bad chunk never takes a good one with it; throws `LoadError` if none is good, and
  /// `LoadError.equalActors` also if others are.
  public func applyEncodedChanges(encoded: Data) throws {
    var edits: TextEditCollector?
    try take(encoded, &edits)
  }

  /// Takes in chunks of which each may depend on any other. They are sorted first: taken in one by one, nearly all of thousands
  /// would wait for a later one, and most of them be dropped.
  ///
  /// - Returns: the places of the chunks that cannot be used: those for which `applyEncodedChanges` throws.
  /// - Complexity: O(n) in their bytes
  package func applyChunks(_ chunks: [Data]) -> [Int] {
    guard takeTogether(chunks) != nil else { return [] }
    // Bytes that are no chunk may hide those behind them.
    let isReadable = chunks.map { (try? Document().applyEncodedChanges(encoded: $0)) != nil }
    _ = takeTogether(chunks.indices.filter { isReadable[$0] }.map { chunks[$0] })
    return chunks.indices.filter { !isReadable[$0] || (try? applyEncodedChanges(encoded: chunks[$0])) == nil }
  }

  /// Returns the first error, even if all the rest is good.
  private func takeTogether(_ chunks: [Data]) -> LoadError? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chunks.reduce(0) { $0 + $1.count })
    for chunk in chunks { bytes += chunk }
    guard !bytes.isEmpty else { return nil }
    var edits: TextEditCollector?
    var filter: AuthorFilter? = AuthorFilter(attested: [:])
    do throws(LoadError) {
      try replacingCore { (core) throws(LoadError) in
        core = try core.take(bytes[...], edits: &edits, filter: &filter)
        try core.expectNoEqualActors()
      }
      return filter?.fault
    } catch {
      return error
    }
  }

  /// As `applyEncodedChanges`; returns what it did to texts.
  public func applyEncodedChangesWithTextEdits(encoded: Data) throws -> [TextEdit] {
    var edits: TextEditCollector? = TextEditCollector()
    try take(encoded, &edits)
    return edits?.edits ?? []
  }

  /// As `applyEncodedChanges`; returns what it did to the document.
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

  /// Takes in what another document has and this one lacks. Throws `LoadError.equalActors` if both have been changed in the name
  /// of one actor; everything else is taken in then.
  public func merge(other: Document) throws {
    var edits: TextEditCollector?
    try merge(other, &edits)
  }

  /// The same, as the quick start of automerge-swift writes it.
  public func merge(_ other: Document) throws { try merge(other: other) }

  /// As `merge`; returns what it did to texts.
  public func mergeWithTextEdits(other: Document) throws -> [TextEdit] {
    var edits: TextEditCollector? = TextEditCollector()
    try merge(other, &edits)
    return edits?.edits ?? []
  }

  /// As `merge`; returns what it did to the document.
  /// - Complexity: that of `difference(since:)`.
  public func mergeWithPatches(other: Document) throws -> [Patch] {
    var edits: TextEditCollector?
    return try merge(other, &edits) { core, heads in core.patches(since: heads, encoding: textEncoding) } ?? []
  }

  private func merge(_ other: Document, _ edits: inout TextEditCollector?) throws {
    _ = try merge(other, &edits) { _, _ in }
  }

  /// Passes the state after, and the rows of the heads before, to `report`. Nil if the other document is this one.
  private func merge<Report>(
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
