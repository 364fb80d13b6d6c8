/// Reads a boolean column, run by run.
struct BooleanDecoder {
  private var reader: ByteReader
  private let mode: ColumnMode
  private let limit: Int
  private var nextValueRead = false
  private var isFirst = true
  private var pending: (value: Bool, count: Int)?
  private var rowsRead = 0

  init(_ bytes: ArraySlice<UInt8>, mode: ColumnMode, limit: Int = FormatLimits.rows) {
    reader = ByteReader(bytes)
    self.mode = mode
    self.limit = limit
  }

  init(_ bytes: [UInt8], mode: ColumnMode) { self.init(bytes[...], mode: mode) }

  var offset: Int { reader.offset }

  /// The run at the front, without consuming it; nil at the end.
  mutating func peekRun() throws(FormatError) -> (value: Bool, count: Int)? {
    while pending == nil, !reader.isAtEnd {
      let start = reader.offset
      guard let count = Int(exactly: try reader.uleb()) else { throw .integerTooLarge(at: start) }
      if count == 0, mode == .strict, !isFirst || reader.isAtEnd { throw .run(.emptyBoolean, at: start) }
      let (sum, overflow) = rowsRead.addingReportingOverflow(count)
      guard !overflow, sum <= limit else { throw .tooMany(limit: limit, at: start) }
      rowsRead = sum
      if count > 0 { pending = (nextValueRead, count) }
      nextValueRead.toggle()
      isFirst = false
    }
    return pending
  }

  /// Consumes rows of the run that `peekRun` returned.
  mutating func skip(_ count: Int) {
    guard let run = pending else { return }
    precondition(count <= run.count, "rows are skipped inside one run")
    pending = run.count == count ? nil : (run.value, run.count - count)
  }

  /// The next rows that share one value, at most `count` of them; nil at the end.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> (value: Bool, count: Int)? {
    guard let run = try peekRun() else { return nil }
    let taken = min(run.count, count)
    skip(taken)
    return (run.value, taken)
  }

  /// The next row; false at the end, so that an omitted column reads correctly.
  mutating func next() throws(FormatError) -> Bool { try nextRun(atMost: 1)?.value ?? false }

  /// Throws if rows are left.
  mutating func expectEnd() throws(FormatError) {
    guard try peekRun() == nil else { throw .rowCount(expected: rowsRead, at: reader.offset) }
  }
}
