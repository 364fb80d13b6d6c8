/// Rows of a delta column: nulls, or numbers that grow by the same step.
struct DeltaRun: Equatable {
  /// The number in the first row; nil if all are null.
  var first: Int64?
  var step: Int64
  var count: Int

  /// The number in row `index` of the run.
  func value(at index: Int) -> Int64? { first.map { $0 &+ Int64(index) &* step } }
}

/// Reads a delta column, run by run, and checks that every number lies in a range.
struct DeltaDecoder {
  private var runs: RunLengthDecoder<Int64>
  private let range: ClosedRange<Int64>
  /// The number in the last row of the runs that were read.
  private var previous: Int64 = 0
  /// The run at the front, if it has rows left.
  private var front = DeltaRun(first: nil, step: 0, count: 0)

  /// The range of operation counters.
  static let counters: ClosedRange<Int64> = 0...Int64(UInt32.max)
  /// No bounds. Differences may wrap around, as `DeltaEncoder` writes them.
  static let anything: ClosedRange<Int64> = .min ... .max

  init(_ bytes: ArraySlice<UInt8>, range: ClosedRange<Int64>, mode: ColumnMode, limit: Int = FormatLimits.rows) {
    runs = RunLengthDecoder(bytes, mode: mode, limit: limit)
    self.range = range
  }

  init(_ bytes: [UInt8], range: ClosedRange<Int64>, mode: ColumnMode) {
    self.init(bytes[...], range: range, mode: mode)
  }

  var offset: Int { runs.offset }

  /// The run at the front, without consuming it; nil at the end.
  @inline(__always)
  mutating func peekRun() throws(FormatError) -> DeltaRun? {
    if front.count == 0 {
      guard let run = try readRun() else { return nil }
      front = run
    }
    return front
  }

  private mutating func readRun() throws(FormatError) -> DeltaRun? {
    guard let run = try runs.nextRun() else { return nil }
    guard let step = run.value else { return DeltaRun(first: nil, step: 0, count: run.count) }
    if range == Self.anything {
      defer { previous = previous &+ step &* Int64(run.count) }
      return DeltaRun(first: previous &+ step, step: step, count: run.count)
    }
    let (first, firstOverflow) = previous.addingReportingOverflow(step)
    let (distance, distanceOverflow) = step.multipliedReportingOverflow(by: Int64(run.count))
    let (last, lastOverflow) = previous.addingReportingOverflow(distance)
    guard !firstOverflow, !distanceOverflow, !lastOverflow, range.contains(first), range.contains(last) else {
      throw .valueOutOfRange(at: runs.offset)
    }
    previous = last
    return DeltaRun(first: first, step: step, count: run.count)
  }

  /// Consumes rows of the run that `peekRun` returned.
  @inline(__always)
  mutating func skip(_ count: Int) {
    guard front.count > 0 else { return }
    precondition(count <= front.count, "rows are skipped inside one run")
    if let first = front.first { front.first = first &+ Int64(count) &* front.step }
    front.count -= count
  }

  /// The next rows whose numbers differ by the same step, at most `count` of them; nil at the end.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> DeltaRun? {
    guard var run = try peekRun() else { return nil }
    run.count = min(run.count, count)
    skip(run.count)
    return run
  }

  /// The next row; nil at the end, `.some(nil)` for a null.
  mutating func next() throws(FormatError) -> Int64?? {
    guard let run = try nextRun(atMost: 1) else { return nil }
    return .some(run.first)
  }

  /// The next row, which must exist and not be null.
  mutating func nextValue() throws(FormatError) -> Int64 {
    guard let run = try nextRun(atMost: 1) else { throw .truncated(at: runs.offset) }
    guard let value = run.first else { throw .unexpectedNull(at: runs.offset) }
    return value
  }

  /// Throws if rows are left.
  mutating func expectEnd() throws(FormatError) {
    guard front.count == 0 else { throw .rowCount(expected: runs.rowsRead, at: runs.offset) }
    try runs.expectEnd()
  }
}
