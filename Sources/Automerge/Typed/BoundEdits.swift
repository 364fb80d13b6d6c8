import Synchronization

/// The operations that bound texts and counters make in one document while a body runs that may fail, and no others,
/// whatever other threads do to the document meanwhile.
final class BoundEdits: Sendable {
  /// The edits of the body that this thread runs.
  @TaskLocal static var current: BoundEdits?

  /// Consecutive operations of one actor.
  struct Operations {
    let actor: UInt32
    let counters: ClosedRange<UInt32>
  }

  let document: Document
  private let operations = Mutex<[Operations]>([])

  init(of document: Document) { self.document = document }

  fileprivate func add(_ more: Operations) { operations.withLock { $0.append(more) } }

  /// Changes the document to what it would be without the operations, by a new change. While the document is isolated
  /// at earlier heads, they stay.
  /// - Parameter time: the time of that change, in seconds since 1970
  func revert(time: Int64) throws {
    let operations = operations.withLock { $0 }
    if operations.isEmpty { return }
    try document.withCore { core in
      guard core.isolation == nil else { return }
      core.commitPending()
      try core.revert(operations, time: time)
    }
  }
}

extension Document {
  /// Edits on behalf of a bound value, and records the operations if a caller wants them.
  func editBound(_ body: (DocumentCore) throws(DocError) -> Void) throws(DocError) {
    guard let noted = BoundEdits.current, noted.document === self else { return try withCore(body) }
    try withCore { (core) throws(DocError) in
      let before = core.transaction.map { $0.startOp + $0.opCount }
      defer {
        if let now = core.transaction, now.startOp + now.opCount > before ?? now.startOp {
          noted.add(.init(actor: now.author, counters: (before ?? now.startOp)...now.startOp + now.opCount - 1))
        }
      }
      try body(core)
    }
  }
}

extension DocumentCore {
  /// Reverts operations permanently: neither they nor what reverts them can be undone. No transaction is pending.
  fileprivate func revert(_ operations: [BoundEdits.Operations], time: Int64) throws(DocError) {
    lookups.undoHistory.update(from: self)
    lookups.changeLookup.update(from: graph)
    for actor in Set(operations.map(\.actor)).sorted() {
      let counters = operations.filter { $0.actor == actor }.map(\.counters).sorted { $0.lowerBound < $1.lowerBound }
      let rows = Set(counters.compactMap { lookups.changeLookup.row(of: OpId(counter: $0.lowerBound, actor: actor)) })
        .sorted()
      let copies = try revert(counters, of: actor, rows: rows)
      guard commit(message: nil, time: time) else { continue }
      lookups.undoHistory.didRevert(rows, by: graph.count - 1, restoring: copies)
    }
  }
}
