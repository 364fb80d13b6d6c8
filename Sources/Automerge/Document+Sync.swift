import Foundation

/// Syncing with one peer.
extension Document {
  /// The next message for the peer; nil if there is nothing to send now.
  public func generateSyncMessage(state: SyncState) -> Data? {
    replacingCore { core in
      core.commitPending()
      var history = SyncedHistory(core: core, edits: nil, filter: nil)
      return state.progress.withLock { $0.generateMessage(from: &history).map { Data($0.encoded) } }
    }
  }

  /// Applies a message of the peer. Throws `ReceiveSyncError`; with `LoadError.equalActors` if the peer's copy has
  /// other changes of one actor than this one, so that the two cannot become equal. Everything else in the message is
  /// applied.
  public func receiveSyncMessage(state: SyncState, message: Data) throws {
    var filter: AuthorFilter?
    try receive(state, message, collecting: false, filter: &filter) { _, _ in }
  }

  /// Like `receiveSyncMessage`. Returns the resulting edits of texts.
  public func receiveSyncMessageWithTextEdits(state: SyncState, message: Data) throws -> [TextEdit] {
    var filter: AuthorFilter?
    return try receive(state, message, collecting: true, filter: &filter) { history, _ in history.edits?.edits ?? [] }
  }

  /// Like `receiveSyncMessage`. Returns the resulting edits of texts. Ignores what `filter` leaves out. A whole
  /// document that is sent to an empty one cannot be applied in part: then this throws `LoadError.forged`.
  public func receiveSyncMessageWithTextEdits(
    state: SyncState, message: Data, filter: inout AuthorFilter
  ) throws -> [TextEdit] {
    var optional: AuthorFilter? = filter
    defer { filter = optional ?? filter }
    return try receive(state, message, collecting: true, filter: &optional) { history, _ in history.edits?.edits ?? [] }
  }

  /// Like `receiveSyncMessage`; returns the resulting patches.
  /// - Complexity: that of `difference(since:)`.
  public func receiveSyncMessageWithPatches(state: SyncState, message: Data) throws -> [Patch] {
    var filter: AuthorFilter?
    return try receive(state, message, collecting: false, filter: &filter) { history, heads in
      history.core.patches(since: heads, encoding: textEncoding)
    }
  }

  /// Passes the history after the message, and the rows of the heads before it, to `report`.
  private func receive<Report: Sendable>(
    _ state: SyncState, _ message: Data, collecting: Bool, filter: inout AuthorFilter?,
    report: (SyncedHistory, [UInt32]) -> Report
  ) throws -> Report {
    let message = try ReceiveSyncError.decoding(message)
    return try replacingCore { core in
      core.commitPending()
      let heads = core.graph.heads
      var history = SyncedHistory(core: core, edits: collecting ? TextEditCollector() : nil, filter: filter)
      defer { (core, filter) = (history.core, history.filter) }
      try ReceiveSyncError.naming {
        try state.progress.withLock { try $0.receive(message, into: &history) }
        try history.core.expectNoEqualActors()
      }
      return report(history, heads)
    }
  }
}

/// The part of a document that syncing sees.
struct SyncedHistory: SyncableHistory {
  var core: DocumentCore
  var edits: TextEditCollector?
  /// Which authors' changes are not applied.
  var filter: AuthorFilter?

  var syncHeads: [ChangeHash] { core.heads }
  var changeCount: Int { core.graph.count }

  func hasChange(_ hash: ChangeHash) -> Bool { core.row(of: hash) != nil }

  func queuedDependencies(of hash: ChangeHash) -> [ChangeHash]? { core.queue[hash]?.header.deps }

  func changesNotAncestors(of hashes: [ChangeHash]) -> [ChangeHash] {
    if hashes.count == 1, let row = core.row(of: hashes[0]), let line = core.graph.line(after: row) {
      // The last one is the only head.
      return line.isEmpty ? [] : line.count == 1 ? core.heads : Array(core.graph.hashes[line])
    }
    let known = hashes.compactMap { core.row(of: $0) }
    return core.graph.rows(notAncestorsOf: known).map { core.graph.hashes[$0] }
  }

  func dependencies(of hash: ChangeHash) -> [ChangeHash] {
    guard let row = core.row(of: hash) else { return [] }
    return core.graph.deps(of: row).map { core.graph.hashes[Int($0)] }
  }

  func encodedChange(_ hash: ChangeHash) -> [UInt8]? { core.row(of: hash).map { core.chunk(ofRow: $0) } }

  /// Source: PeerProtocol.md, "Expensive changes".
  private static let largeText = 1 << 20
  private static let largeChange = 1 << 10

  var goesInParts: Bool {
    let byteCount = core.bytes.bytes.count
    return byteCount > Self.largeText && byteCount > Self.largeChange * core.graph.count
  }

  func savedDocument() -> [UInt8] { DocumentEncoder.chunk(core) }

  mutating func applySynced(_ chunks: [ArraySlice<UInt8>]) throws {
    core = try core.take(
      chunks.count == 1 ? chunks[0] : ArraySlice(chunks.reduce(into: []) { $0 += $1 }), edits: &edits, filter: &filter
    )
  }
}
