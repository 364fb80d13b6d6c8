/// The changes of a document and their dependencies, in the order in which they were applied, which is topological.
///
/// A change is identified here by its row. Hashes are computed in order, on demand.
final class ChangeGraph {
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

  /// The hashes of the first rows.
  private(set) var hashes: [ChangeHash] = []
  private var rows = HashIndex()
  /// The hashes of the heads, ascending and as a set, and how many changes there were when each was made: they are asked
  /// for several times after each change.
  private var headList: (hashes: [ChangeHash], changeCount: Int) = ([], 0)
  private var headNames: (set: Set<ChangeHash>, changeCount: Int) = ([], 0)
  /// The rows that were the heads when the document was loaded, and the hashes that these should have, until they are
  /// verified.
  private var expected: (rows: [UInt32], heads: [ChangeHash])?

  init() {}

  /// A copy, to be changed independently.
  init(copying other: ChangeGraph) {
    (records, messages, extras, heads) = (other.records, other.messages, other.extras, other.heads)
    (lastRows, maxOp, hashes, rows, expected) = (other.lastRows, other.maxOp, other.hashes, other.rows, other.expected)
  }

  var count: Int { records.count }

  /// The rows that a change depends on, in its own order.
  func deps(of row: Int) -> RowDeps { records.deps(of: row) }

  /// The author of the last change.
  var lastAuthor: UInt32? { records.last?.actor }

  /// An actor's last change; nil if it made none.
  func lastRow(of actor: UInt32) -> UInt32? { Int(actor) < lastRows.count ? lastRows[Int(actor)] : nil }

  /// How many changes an actor made. They are numbered from 1.
  func changeCount(of actor: UInt32) -> UInt32 { lastRow(of: actor).map { records[Int($0)].seq } ?? 0 }

  /// The index of a row among the heads, which ascend.
  private static func place(of row: UInt32, in heads: [UInt32]) -> Int? {
    var low = 0, high = heads.count
    while low < high {
      let middle = (low + high) / 2
      if heads[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low < heads.count && heads[low] == row ? low : nil
  }

  /// The end of the stretch from `row` on whose changes have the same author, time and number of operations, each
  /// directly after the one before it, as far as they are stored together.
  func endOfStretch(from row: Int) -> Int { records.endOfStretch(from: row) }

  /// Adds a change. Its dependencies are rows in the change's own order.
  func append(_ record: ChangeRecord, deps rows: [UInt32], message: String?, extra: [UInt8]) {
    let row = count
    if let message {
      var taken: [Int: String] = [:]
      swap(&taken, &messages)
      taken[row] = message
      swap(&taken, &messages)
    }
    if !extra.isEmpty {
      var taken: [Int: [UInt8]] = [:]
      swap(&taken, &extras)
      taken[row] = extra
      swap(&taken, &extras)
    }
    append(record, deps: rows)
    var taken: [UInt32] = []
    swap(&taken, &heads)
    for row in rows {
      if let place = Self.place(of: row, in: taken) { taken.remove(at: place) }
    }
    taken.append(UInt32(row))
    swap(&taken, &heads)
    setLastRow(of: record.actor, to: UInt32(row))
    maxOp = max(maxOp, record.maxOp)
  }

  /// Adds a change that depends on the only head alone and has the same author; false if there is no such head.
  func appendToOwnHead(author: UInt32, startOp: UInt32, opCount: UInt32, time: Int64) -> Bool {
    let row = UInt32(count)
    guard row > 0, heads.count == 1, heads[0] == row - 1 else { return false }
    let last = records[Int(row) - 1]
    guard last.actor == author else { return false }
    let record = ChangeRecord(actor: author, seq: last.seq + 1, startOp: startOp, opCount: opCount, time: time)
    append(record, deps: CollectionOfOne(row - 1))
    setHead(row)
    setLastRow(of: author, to: row)
    maxOp = max(maxOp, record.maxOp)
    return true
  }

  /// Adds `more` changes like the last one, which is the only head: each depends on the one before it and has the same
  /// author, time and number of operations.
  func repeatLast(_ more: Int) {
    guard more > 0 else { return }
    var taken = ChangeRecords()
    swap(&taken, &records)
    taken.lengthenLast(by: more)
    swap(&taken, &records)
    guard let last = records.last else { return }
    let row = UInt32(count - 1)
    setHead(row)
    setLastRow(of: last.actor, to: row)
    maxOp = max(maxOp, last.maxOp)
  }

  /// Reserves room for the hashes of more changes, and for some that come after these: otherwise the first keystroke after
  /// a whole document would move all hashes.
  func reserve(_ more: Int) {
    guard more > hashes.count / 4 else { return }
    changeHashes { hashes, rows in
      hashes.reserveCapacity(hashes.count + more + more / 16)
      rows.reserve(more, hashes)
    }
  }

  // MARK: Changing

  // What is changed is taken out of the object meanwhile, so that reading it costs no check: see decision 25.

  @inline(__always)
  private func append(_ record: ChangeRecord, deps rows: some Collection<UInt32>) {
    var taken = ChangeRecords()
    swap(&taken, &records)
    taken.append(record, deps: rows)
    swap(&taken, &records)
  }

  private func setLastRow(of actor: UInt32, to row: UInt32) {
    var taken: [UInt32?] = []
    swap(&taken, &lastRows)
    if Int(actor) >= taken.count {
      taken.append(contentsOf: repeatElement(nil, count: Int(actor) + 1 - taken.count))
    }
    taken[Int(actor)] = row
    swap(&taken, &lastRows)
  }

  /// Sets the only head.
  private func setHead(_ row: UInt32) {
    var taken: [UInt32] = []
    swap(&taken, &heads)
    if taken.count == 1 { taken[0] = row } else { taken = [row] }
    swap(&taken, &heads)
  }

  @inline(__always)
  private func changeHashes(_ body: (inout [ChangeHash], inout HashIndex) -> Void) {
    var (takenHashes, takenRows): ([ChangeHash], HashIndex) = ([], HashIndex())
    swap(&takenHashes, &hashes)
    swap(&takenRows, &rows)
    body(&takenHashes, &takenRows)
    swap(&takenHashes, &hashes)
    swap(&takenRows, &rows)
  }

  // MARK: Hashes

  /// Sets the hash of the first row that has none yet.
  func appendHash(_ hash: ChangeHash) {
    changeHashes { hashes, rows in
      hashes.append(hash)
      rows.insert(place: hashes.count - 1, in: hashes)
    }
  }

  /// The hashes of the heads, ascending. All rows must have their hashes.
  var headHashes: [ChangeHash] {
    if headList.changeCount == count { return headList.hashes }
    let list = heads.count == 1 ? [hashes[Int(heads[0])]] : heads.map { hashes[Int($0)] }.sorted()
    headList = (list, count)
    return list
  }

  /// The same as a set. A set of one is changed in place, unless a caller still holds the previous one.
  var headSet: Set<ChangeHash> {
    if headNames.changeCount == count { return headNames.set }
    var taken: (set: Set<ChangeHash>, changeCount: Int) = ([], 0)
    swap(&taken, &headNames)
    if heads.count == 1, taken.set.count == 1 {
      taken.set.removeFirst()
      taken.set.insert(hashes[Int(heads[0])])
    } else {
      taken.set = Set(heads.map { hashes[Int($0)] })
    }
    taken.changeCount = count
    swap(&taken, &headNames)
    return headNames.set
  }

  /// Finds a row among those that have a hash.
  func row(of hash: ChangeHash) -> Int? { rows.place(of: hash, in: hashes) }

  /// Records which hashes the present heads should have.
  func expect(_ hashes: [ChangeHash]) { expected = (heads, hashes) }

  var isVerified: Bool { expected == nil }

  /// Compares the hashes of the heads with those that they should have. All rows must have their hashes.
  func verify() throws(LoadError) {
    guard let expected else { return }
    guard expected.rows.map({ hashes[Int($0)] }).sorted() == expected.heads.sorted() else {
      throw .inconsistentDocument(.heads)
    }
    self.expected = nil
  }

  // MARK: Walks

  /// The rows that are neither among `known` nor ancestors of them, ascending.
  /// - Complexity: O(k) in the rows from the newest one back to the oldest one missing, which are few when few are
  ///   missing: the walk goes back from the heads and ends as soon as everything still open is known
  func rows(notAncestorsOf known: [Int]) -> [Int] {
    if known.isEmpty { return Array(0..<count) }
    if known.count == 1, let line = line(after: known[0]) { return Array(line) }
    // Each row comes after its dependencies, so walking down row by row meets all successors of a row before the row
    // itself.
    var marks = RowMarks(newest: max(heads.last.map(Int.init) ?? 0, known.max() ?? 0))
    var unknownOpen = 0
    func mark(_ row: Int, isKnown: Bool) {
      switch marks[row] {
      case .none:
        marks[row] = isKnown ? .known : .unknown
        if !isKnown { unknownOpen += 1 }
      case .unknown where isKnown:
        marks[row] = .known
        unknownOpen -= 1
      case .unknown, .known: break
      }
    }
    for row in known { mark(row, isKnown: true) }
    for row in heads { mark(Int(row), isKnown: false) }
    var result: [Int] = []
    var row = marks.newest
    while unknownOpen > 0, row >= 0 {
      let isKnown = marks[row] == .known
      if marks[row] == .unknown {
        result.append(row)
        unknownOpen -= 1
      }
      if marks[row] != .none {
        for dep in deps(of: row) { mark(Int(dep), isKnown: isKnown) }
      }
      row -= 1
    }
    return result.reversed()
  }

  /// The rows after `start`, if each of them depends on the one before it alone, as they do while one person types; nil
  /// otherwise.
  func line(after start: Int) -> Range<Int>? {
    guard heads.count == 1 else { return nil }
    var row = count - 1
    while row > start, records.isBehindPrevious(row) { row -= 1 }
    return row == start ? start + 1..<count : nil
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

/// What a walk back from the newest row has learned about rows.
private struct RowMarks {
  enum Mark: UInt8 { case none, unknown, known }

  /// A row that is farther than this from the ones walked so far is stored separately, so that the rows in between take
  /// no room.
  private static let stretch = 1024

  let newest: Int
  /// The marks from the newest row on back.
  private var near: [Mark] = []
  private var far: [Int: Mark] = [:]

  init(newest: Int) { self.newest = newest }

  subscript(row: Int) -> Mark {
    get {
      let place = newest - row
      if place < near.count, near[place] != .none { return near[place] }
      return far.isEmpty ? .none : far[row] ?? .none
    }
    set {
      let place = newest - row
      guard place < near.count + Self.stretch, far.isEmpty || far[row] == nil else {
        far[row] = newValue
        return
      }
      if place >= near.count { near.append(contentsOf: repeatElement(.none, count: place + 1 - near.count)) }
      near[place] = newValue
    }
  }
}
