/// Rows of a delta column: null, or numbers that grow by the same step.
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
  private var previous: Int64 = 0

  /// What an operation counter may be.
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

  var isEmptyColumn: Bool { runs.isEmptyColumn }
  var offset: Int { runs.offset }

  /// The run at the front, without consuming it; nil at the end.
  mutating func peekRun() throws(FormatError) -> DeltaRun? {
    guard let run = try runs.peekRun() else { return nil }
    guard let step = run.value else { return DeltaRun(first: nil, step: 0, count: run.count) }
    if range == Self.anything { return DeltaRun(first: previous &+ step, step: step, count: run.count) }
    let (first, firstOverflow) = previous.addingReportingOverflow(step)
    let (distance, distanceOverflow) = step.multipliedReportingOverflow(by: Int64(run.count))
    let (last, lastOverflow) = previous.addingReportingOverflow(distance)
    guard !firstOverflow, !distanceOverflow, !lastOverflow, range.contains(first), range.contains(last) else {
      throw .valueOutOfRange(at: runs.offset)
    }
    return DeltaRun(first: first, step: step, count: run.count)
  }

  /// Consumes rows of the run that `peekRun` showed.
  mutating func skip(_ count: Int, of run: DeltaRun) {
    if run.first != nil { previous = previous &+ Int64(count) &* run.step }
    runs.skip(count)
  }

  /// The next rows that follow each other by one step, at most `count` of them; nil at the end.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> DeltaRun? {
    guard var run = try peekRun() else { return nil }
    run.count = min(run.count, count)
    skip(run.count, of: run)
    return run
  }

  /// The next row; nil at the end, `.some(nil)` for a null.
  mutating func next() throws(FormatError) -> Int64?? {
    guard let run = try nextRun(atMost: 1) else { return nil }
    return .some(run.first)
  }

  /// The next row, which must be there and not be null.
  mutating func nextValue() throws(FormatError) -> Int64 {
    guard let run = try nextRun(atMost: 1) else { throw .truncated(at: runs.offset) }
    guard let value = run.first else { throw .unexpectedNull(at: runs.offset) }
    return value
  }

  /// Throws if rows are left.
  mutating func expectEnd() throws(FormatError) { try runs.expectEnd() }
}
