/// A change in the making: its operations are in the log and in the objects already, but the graph has no row for it.
struct Transaction {
  let author: UInt32
  /// The rows it is made on top of, without the author's last one; nil if those are the heads.
  let deps: [UInt32]?
  let startOp: UInt32
  var opCount: UInt32 = 0
  /// How many operations were in the log before it.
  let firstOp: Int
}

extension DocumentCore {
  /// The id of the transaction's next operation; nil if there is no transaction.
  @inline(__always)
  var nextId: OpId? {
    guard let transaction, transaction.opCount < .max - transaction.startOp else { return nil }
    return OpId(counter: transaction.startOp + transaction.opCount, actor: transaction.author)
  }

  /// The ids for `count` operations by this document's actor; begins a transaction if there is none.
  func takeIds(_ count: Int) throws(DocError) -> OpId {
    var current: Transaction
    if let transaction {
      current = transaction
    } else {
      let first = try firstFreeCounter()
      let (author, deps) = author()
      current = Transaction(author: author, deps: deps, startOp: first, firstOp: log.opCount)
    }
    let next = Int(current.startOp) + Int(current.opCount)
    guard count <= Int(UInt32.max) - next, log.hasRoom(for: count) else { throw .tooLarge }
    current.opCount += UInt32(count)
    transaction = current
    return OpId(counter: UInt32(next), actor: current.author)
  }

  private func firstFreeCounter() throws(DocError) -> UInt32 {
    guard graph.maxOp < UInt32.max - 1 else { throw .tooLarge }
    return graph.maxOp + 1
  }

  /// Ends the transaction, whose operations become a change. Returns whether there were any.
  @discardableResult
  func commit(message: String?, time: Int64) -> Bool {
    guard let transaction else { return false }
    self.transaction = nil
    append(
      author: transaction.author, startOp: transaction.startOp, opCount: transaction.opCount,
      deps: transaction.deps, message: message, time: time)
    if isolation != nil { isolation = Isolation(rows: [graph.count - 1]) }
    return true
  }

  /// Makes changes of equal size from the transaction's first operations, and leaves the rest in it.
  func splitTransaction(changeCount: Int, opsPerChange: UInt32, openCount: UInt32, time: Int64) {
    guard changeCount > 0, let whole = transaction else { return }
    transaction = nil
    append(
      author: whole.author, startOp: whole.startOp, opCount: opsPerChange, deps: whole.deps, message: nil, time: time)
    graph.repeatLast(changeCount - 1)
    guard openCount > 0 else { return }
    transaction = Transaction(
      author: whole.author, deps: whole.deps, startOp: whole.startOp + whole.opCount - openCount, opCount: openCount,
      firstOp: graph.records.opCount)
  }

  /// Commits a pending transaction before something else. Its change has the time 0, as in the reference core.
  func commitPending() {
    if transaction != nil { commit(message: nil, time: 0) }
  }

  /// Makes a change without operations.
  func commitEmpty(message: String?, time: Int64) {
    commitPending()
    append(
      author: actors.index(of: actor), startOp: graph.maxOp + 1, opCount: 0, deps: nil,
      message: message, time: time)
  }

  private func append(
    author: UInt32, startOp: UInt32, opCount: UInt32, deps: [UInt32]?, message: String?, time: Int64
  ) {
    if message == nil, deps == nil,
      graph.appendToOwnHead(author: author, startOp: startOp, opCount: opCount, time: time)
    {
      return
    }
    var deps = deps ?? graph.heads
    if let last = graph.lastRow(of: author), !deps.contains(last) { deps.append(last) }
    if deps.count > 1 {
      computeHashes()
      deps.sort { graph.hashes[Int($0)] < graph.hashes[Int($1)] }
    }
    let record = ChangeRecord(
      actor: author, seq: graph.changeCount(of: author) + 1, startOp: startOp, opCount: opCount, time: time)
    graph.append(record, deps: deps, message: message, extra: [])
  }
}
