/// One change of a document.
struct ChangeRecord: BitwiseCopyable {
  var actor: UInt32
  var seq: UInt32
  var startOp: UInt32
  var opCount: UInt32
  var time: Int64
  /// Its first run in the log; the last one is before the next change's first.
  var firstRun: UInt32
  /// Its first dependency in the graph's list; the last one is before the next change's first.
  var firstDep: UInt32

  /// The last operation; one less than the first if there is none.
  var maxOp: UInt32 { startOp - 1 + opCount }
}

/// What came after what: the changes of a document in the order in which they were applied, which is topological.
///
/// Changes are known here by their row. Hashes are filled in, in order, when somebody asks.
struct ChangeGraph {
  private(set) var records: [ChangeRecord] = []
  private var deps: [UInt32] = []
  private(set) var messages: [Int: String] = [:]
  private(set) var extras: [Int: [UInt8]] = [:]
  /// Rows without a successor, ascending.
  private(set) var heads: [UInt32] = []
  /// For each actor index its last change.
  private var lastRows: [UInt32?] = []
  /// The greatest operation counter of all changes.
  private(set) var maxOp: UInt32 = 0
  private(set) var runCount = 0
  private(set) var operationCount = 0

  /// Hashes of the first rows.
  private(set) var hashes: [ChangeHash] = []
  private var rows = HashIndex()

  var count: Int { records.count }

  func deps(of row: Int) -> ArraySlice<UInt32> {
    deps[Int(records[row].firstDep)..<(row + 1 < count ? Int(records[row + 1].firstDep) : deps.count)]
  }

  func runRange(of row: Int) -> Range<Int> {
    Int(records[row].firstRun)..<(row + 1 < count ? Int(records[row + 1].firstRun) : runCount)
  }

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
  /// the one before it.
  func endOfStretch(from row: Int) -> Int {
    let first = records[row]
    var next = row + 1
    while next < count {
      let record = records[next]
      let depEnd = next + 1 < count ? Int(records[next + 1].firstDep) : deps.count
      guard record.actor == first.actor, record.time == first.time, record.opCount == first.opCount,
        Int(record.seq) == Int(first.seq) + next - row,
        Int(record.startOp) == Int(first.startOp) + (next - row) * Int(first.opCount),
        depEnd == Int(record.firstDep) + 1, deps[Int(record.firstDep)] == UInt32(next - 1)
      else { break }
      next += 1
    }
    return next
  }

  /// Adds a change whose runs end at `runEnd` in the log. Its dependencies are rows in the change's own order.
  mutating func append(_ record: ChangeRecord, deps rows: [UInt32], message: String?, extra: [UInt8], runEnd: Int) {
    var record = record
    let row = count
    record.firstDep = UInt32(deps.count)
    deps.append(contentsOf: rows)
    if let message { messages[row] = message }
    if !extra.isEmpty { extras[row] = extra }
    records.append(record)
    runCount = runEnd
    operationCount += Int(record.opCount)
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
  mutating func appendToOwnHead(
    author: UInt32, startOp: UInt32, opCount: UInt32, time: Int64, firstRun: Int, runEnd: Int
  ) -> Bool {
    let row = UInt32(count)
    guard row > 0, heads.count == 1, heads[0] == row - 1, records[Int(row) - 1].actor == author else { return false }
    let record = ChangeRecord(
      actor: author, seq: records[Int(row) - 1].seq + 1, startOp: startOp, opCount: opCount, time: time,
      firstRun: UInt32(firstRun), firstDep: UInt32(deps.count))
    deps.append(row - 1)
    records.append(record)
    runCount = runEnd
    operationCount += Int(opCount)
    heads[0] = row
    lastRows[Int(author)] = row
    if opCount > 0 { maxOp = max(maxOp, record.maxOp) }
    return true
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
