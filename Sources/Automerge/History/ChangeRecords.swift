/// One change of a document.
struct ChangeRecord: BitwiseCopyable {
  var actor: UInt32
  var seq: UInt32
  var startOp: UInt32
  var opCount: UInt32
  var time: Int64
  /// How many operations come before the change in the log. Set when the change is added.
  var firstOp: UInt32 = 0

  /// The indices of its operations in the log.
  var ops: Range<Int> { Int(firstOp)..<Int(firstOp) + Int(opCount) }

  /// The last operation; one less than the first if there is none.
  var maxOp: UInt32 { startOp - 1 + opCount }
}

/// The changes of a document, row by row.
///
/// Typing makes many changes that differ only in their numbers: each has the same author, second and number of
/// operations as the one before it, and depends on that alone. Such a stretch is stored as its first change and what
/// that depends on, so further typing adds no record.
struct ChangeRecords: RandomAccessCollection {
  private struct Stretch: BitwiseCopyable {
    let first: ChangeRecord
    let firstRow: UInt32
    /// The first row's first dependency in `deps`; its last one is before the next stretch's first.
    let firstDep: UInt32
  }

  private var stretches: [Stretch] = []
  private var deps: [UInt32] = []
  private(set) var count = 0
  /// The operations of all changes.
  private(set) var opCount = 0

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  /// - Complexity: O(log n) in the stretches; O(1) in the last one.
  subscript(row: Int) -> ChangeRecord { record(row, in: stretch(of: row)) }

  /// Adds a change. Its dependencies are rows in the change's own order.
  mutating func append(_ record: ChangeRecord, deps rows: some Collection<UInt32>) {
    let isBehindLast = rows.count == 1 && count > 0 && rows.first == UInt32(count - 1)
    if !(isBehindLast && continues(record)) {
      var first = record
      first.firstOp = UInt32(opCount)
      stretches.append(Stretch(first: first, firstRow: UInt32(count), firstDep: UInt32(deps.count)))
      deps.append(contentsOf: rows)
    }
    count += 1
    opCount += Int(record.opCount)
  }

  /// Adds `more` changes like the last one, each continuing the one before it in every respect.
  mutating func lengthenLast(by more: Int) {
    guard more > 0, let last else { return }
    count += more
    opCount += more * Int(last.opCount)
  }

  /// Whether a change that depends on the last one alone extends its stretch.
  @inline(__always)
  private func continues(_ record: ChangeRecord) -> Bool {
    guard let last = stretches.last else { return false }
    let first = last.first, distance = UInt32(count) - last.firstRow
    return first.actor == record.actor && first.opCount == record.opCount && first.time == record.time
      && first.seq + distance == record.seq
      && UInt64(first.startOp) + UInt64(distance) * UInt64(first.opCount) == UInt64(record.startOp)
  }

  // MARK: Reading

  /// The rows that the change depends on, in its own order.
  func deps(of row: Int) -> RowDeps {
    let place = stretch(of: row), first = stretches[place]
    if row > Int(first.firstRow) { return RowDeps(previous: UInt32(row - 1)) }
    let end = place + 1 < stretches.count ? Int(stretches[place + 1].firstDep) : deps.count
    return RowDeps(listed: deps[Int(first.firstDep)..<end])
  }

  /// Whether the change depends on the one before it alone.
  func isBehindPrevious(_ row: Int) -> Bool {
    let place = stretch(of: row), first = stretches[place]
    if row > Int(first.firstRow) { return true }
    let end = place + 1 < stretches.count ? Int(stretches[place + 1].firstDep) : deps.count
    return end == Int(first.firstDep) + 1 && Int(deps[end - 1]) == row - 1
  }

  /// The end of the stretch that contains a row.
  func endOfStretch(from row: Int) -> Int { end(of: stretch(of: row)) }

  private func end(of place: Int) -> Int {
    place + 1 < stretches.count ? Int(stretches[place + 1].firstRow) : count
  }

  @inline(__always)
  private func record(_ row: Int, in place: Int) -> ChangeRecord {
    let stretch = stretches[place], distance = UInt32(row) - stretch.firstRow
    var record = stretch.first
    record.seq += distance
    record.startOp += distance * record.opCount
    record.firstOp += distance * record.opCount
    return record
  }

  @inline(__always)
  private func stretch(of row: Int) -> Int {
    precondition(row >= 0 && row < count, "the row is there")
    var low = 0, high = stretches.count - 1
    if stretches[high].firstRow <= UInt32(row) { return high }
    while low < high {
      let middle = (low + high + 1) / 2
      if Int(stretches[middle].firstRow) <= row { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

/// The rows that a change depends on.
struct RowDeps: RandomAccessCollection {
  private let listed: ArraySlice<UInt32>
  /// For a change inside a stretch, the row before it.
  private let previous: UInt32?

  init(listed: ArraySlice<UInt32>) { (self.listed, previous) = (listed, nil) }
  init(previous: UInt32) { (listed, self.previous) = ([], previous) }

  var startIndex: Int { 0 }
  var endIndex: Int { previous == nil ? listed.count : 1 }
  subscript(index: Int) -> UInt32 { previous ?? listed[listed.startIndex + index] }
}
