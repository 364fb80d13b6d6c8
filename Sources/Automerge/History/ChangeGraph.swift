/// The changes of a document and their dependencies, in the order in which they were applied, which is topological.
///
/// A change is identified here by its row. Hashes are computed in order, on demand.
struct ChangeGraph {
  private(set) var records = ChangeRecords()
  private(set) var messages: [Int: String] = [:]
  private(set) var extras: [Int: [UInt8]] = [:]
  /// Rows without a successor, ascending.
  private(set) var heads: [UInt32] = []
  /// For each actor index its last change.
  private var lastRows: [UInt32?] = []
  /// The greatest operation counter of all changes.
  private(set) var maxOp: UInt32 = 0
  /// The operations of all changes.
  var operationCount: Int { records.opCount }

  /// Hashes of the first rows.
  private(set) var hashes: [ChangeHash] = []
  private var rows = HashIndex()

  var count: Int { records.count }

  /// The rows that a change depends on, in its own order.
  func deps(of row: Int) -> RowDeps { records.deps(of: row) }

  /// The author of the change that came last.
  var lastAuthor: UInt32? { records.last?.actor }

  /// An actor's last change; nil if it made none.
  func lastRow(of actor: UInt32) -> UInt32? { Int(actor) < lastRows.count ? lastRows[Int(actor)] : nil }

  /// How many changes an actor made: they are numbered from 1.
  func changeCount(of actor: UInt32) -> UInt32 { lastRow(of: actor).map { records[Int($0)].seq } ?? 0 }

  /// The place of a row among the heads, which ascend.
  private func headPlace(of row: UInt32) -> Int? {
    var low = 0, high = heads.count
    while low < high {
      let middle = (low + high) / 2
      if heads[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low < heads.count && heads[low] == row ? low : nil
  }

  /// Where the changes from `row` on end that have the same author, time and number of operations, each directly behind
  /// the one before it, as far as they are kept together.
  func endOfStretch(from row: Int) -> Int { records.endOfStretch(from: row) }

  /// Adds a change. Its dependencies are rows in the change's own order.
  mutating func append(_ record: ChangeRecord, deps rows: [UInt32], message: String?, extra: [UInt8]) {
    let row = count
    if let message { messages[row] = message }
    if !extra.isEmpty { extras[row] = extra }
    records.append(record, deps: rows)
    for row in rows {
      if let place = headPlace(of: row) { heads.remove(at: place) }
    }
    heads.append(UInt32(row))
    if Int(record.actor) >= lastRows.count {
      lastRows.append(contentsOf: repeatElement(nil, count: Int(record.actor) + 1 - lastRows.count))
    }
    lastRows[Int(record.actor)] = UInt32(row)
    if record.opCount > 0 { maxOp = max(maxOp, record.maxOp) }
  }

  /// Adds a change by the author of the only head, which it depends on; false if that is not so.
  mutating func appendToOwnHead(author: UInt32, startOp: UInt32, opCount: UInt32, time: Int64) -> Bool {
    let row = UInt32(count)
    guard row > 0, heads.count == 1, heads[0] == row - 1 else { return false }
    let last = records[Int(row) - 1]
    guard last.actor == author else { return false }
    let record = ChangeRecord(actor: author, seq: last.seq + 1, startOp: startOp, opCount: opCount, time: time)
    records.append(record, deps: CollectionOfOne(row - 1))
    heads[0] = row
    lastRows[Int(author)] = row
    if opCount > 0 { maxOp = max(maxOp, record.maxOp) }
    return true
  }

  /// Adds `more` changes that are like the last one and the only head, each on top of the one before it, by the same
  /// author at the same time, with as many operations.
  mutating func repeatLast(_ more: Int) {
    guard more > 0 else { return }
    records.lengthenLast(by: more)
    guard let last = records.last else { return }
    let row = UInt32(count - 1)
    heads = [row]
    lastRows[Int(last.actor)] = row
    if last.opCount > 0 { maxOp = max(maxOp, last.maxOp) }
  }

  /// Makes room for the hashes of more changes.
  mutating func reserve(_ more: Int) {
    guard more > hashes.count / 4 else { return }
    hashes.reserveCapacity(hashes.count + more)
    rows.reserve(more, hashes)
  }

  // MARK: Hashes

  /// Names the first row that has no hash yet.
  mutating func appendHash(_ hash: ChangeHash) {
    hashes.append(hash)
    rows.insert(place: hashes.count - 1, in: hashes)
  }

  /// Among the rows that have a hash.
  func row(of hash: ChangeHash) -> Int? { rows.place(of: hash, in: hashes) }

  // MARK: Walks

  /// The rows that are neither among `known` nor ancestors of them, ascending.
  /// - Complexity: O(k log k) in the rows looked at, which are few when few are missing: the walk goes back from the
  ///   heads and ends as soon as everything still open is known.
  func rows(notAncestorsOf known: [Int]) -> [Int] {
    if let rows = rows(inLineAfter: known) { return rows }
    // true: known; false: not. A row is settled when it comes up, as all its successors came before.
    var marks: [Int: Bool] = [:]
    var open = RowHeap(), unknownOpen = 0
    func mark(_ row: Int, _ isKnown: Bool) {
      switch marks[row] {
      case nil:
        marks[row] = isKnown
        open.push(row)
        if !isKnown { unknownOpen += 1 }
      case false? where isKnown:
        marks[row] = true
        unknownOpen -= 1
      case true?, false?: break
      }
    }
    for row in known { mark(row, true) }
    for row in heads { mark(Int(row), false) }
    var result: [Int] = []
    while unknownOpen > 0, let row = open.pop() {
      let isKnown = marks[row] ?? false
      if !isKnown {
        result.append(row)
        unknownOpen -= 1
      }
      for dep in deps(of: row) { mark(Int(dep), isKnown) }
    }
    return result.reversed()
  }

  /// The rows after `known` if a straight line leads there from the head, as while one person types; nil if none does.
  private func rows(inLineAfter known: [Int]) -> [Int]? {
    guard known.count == 1, heads.count == 1, let start = known.first, var row = heads.first.map(Int.init) else {
      return nil
    }
    var result: [Int] = []
    while row > start {
      result.append(row)
      let deps = deps(of: row)
      guard deps.count == 1, let dep = deps.first else { return nil }
      row = Int(dep)
    }
    return row == start ? result.reversed() : nil
  }

  /// The state of the document that consists of `rows` and all their ancestors.
  func clock(of rows: [Int]) -> Clock {
    var clock = Clock.now
    var first: [UInt32: UInt32] = [:]
    for row in self.rows(notAncestorsOf: rows) where first[records[row].actor] == nil {
      first[records[row].actor] = records[row].startOp
    }
    for (actor, startOp) in first { clock.set(startOp - 1, actor: actor) }
    return clock
  }
}

/// Rows, greatest first.
private struct RowHeap {
  private var rows: [Int] = []

  mutating func push(_ row: Int) {
    rows.append(row)
    var at = rows.count - 1
    while at > 0, rows[(at - 1) / 2] < rows[at] {
      rows.swapAt(at, (at - 1) / 2)
      at = (at - 1) / 2
    }
  }

  mutating func pop() -> Int? {
    guard let top = rows.first else { return nil }
    let last = rows.removeLast()
    guard !rows.isEmpty else { return top }
    rows[0] = last
    var at = 0
    while true {
      let left = 2 * at + 1, right = left + 1
      var largest = at
      if left < rows.count, rows[left] > rows[largest] { largest = left }
      if right < rows.count, rows[right] > rows[largest] { largest = right }
      if largest == at { return top }
      rows.swapAt(at, largest)
      at = largest
    }
  }
}
