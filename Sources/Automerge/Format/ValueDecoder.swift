/// Values of one type and byte length in consecutive rows, whose bytes are contiguous.
struct ValueRun {
  /// Type code. Source: `RawValue.Code`.
  let code: UInt8
  /// The number of bytes of each value.
  let byteCount: Int
  var count: Int
  /// `count * byteCount` bytes, sharing the column's buffer.
  var bytes: ArraySlice<UInt8>

  /// Whether each value is a string of exactly one Unicode scalar, so that the run is typed text.
  /// - Complexity: O(n) in the bytes.
  var isText: Bool {
    guard code == RawValue.Code.string, (1...4).contains(byteCount) else { return false }
    return UTF8Scalar.count(in: bytes, byteCount: byteCount) == count
  }

  /// The value in row `index` of the run, checked.
  func value(at index: Int) throws(FormatError) -> RawValue {
    let start = bytes.startIndex + index * byteCount
    return try RawValue(code: code, bytes: bytes[start..<start + byteCount], at: start)
  }

  /// The first `count` rows.
  func prefix(_ count: Int) -> ValueRun {
    ValueRun(code: code, byteCount: byteCount, count: count, bytes: bytes.prefix(count * byteCount))
  }
}

/// Reads the two columns that hold values, run by run.
struct ValueDecoder {
  private var metadata: RunLengthDecoder<UInt64>
  private var raw: ByteReader
  private(set) var text = Text()

  /// Rows that are known to be strings of one scalar each, as `readText` found them: how many bytes each has, and how
  /// many rows were consumed and are left.
  struct Text {
    fileprivate(set) var byteCount = 0
    fileprivate(set) var taken = 0
    fileprivate(set) var left = 0
  }

  init(
    metadata: ArraySlice<UInt8>, raw: ArraySlice<UInt8>, mode: ColumnMode, limit: Int = FormatLimits.rows
  ) {
    self.metadata = RunLengthDecoder(metadata, mode: mode, limit: limit)
    self.raw = ByteReader(raw)
  }

  var offset: Int { metadata.offset }

  /// The next rows of one type and length, at most `count` of them; nil at the end. The bytes exist, but `RawValue`
  /// checks their meaning only when a value is requested.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> ValueRun? {
    guard let run = try metadata.nextRun(atMost: count) else { return nil }
    guard let word = run.value else { throw .unexpectedNull(at: metadata.offset) }
    guard let byteCount = Int(exactly: word >> 4) else { throw .integerTooLarge(at: metadata.offset) }
    let (total, overflow) = byteCount.multipliedReportingOverflow(by: run.count)
    guard !overflow else { throw .truncated(at: raw.offset) }
    let known = min(text.left, run.count)
    text.taken += known
    text.left -= known
    return ValueRun(
      code: UInt8(word & 15), byteCount: byteCount, count: run.count, bytes: try raw.bytes(count: total))
  }

  /// The bytes of the rows at the front that are strings of one scalar each, all of one length; nil if there are none.
  /// - Complexity: O(n) in the bytes
  mutating func readText() throws(FormatError) -> ArraySlice<UInt8>? {
    guard let run = try metadata.peekRun(), let word = run.value, word & 15 == UInt64(RawValue.Code.string),
      case let byteCount = word >> 4, (1...4).contains(byteCount)
    else { return nil }
    let width = Int(byteCount), rows = raw.rest.prefix(min(run.count, raw.remaining / width) * width)
    let count = UTF8Scalar.count(in: rows, byteCount: width)
    guard count > 0 else { return nil }
    text = Text(byteCount: width, left: count)
    return rows.prefix(count * width)
  }

  /// Consumes some of the rows that `readText` found.
  mutating func skipText(_ count: Int) throws(FormatError) {
    metadata.skip(count)
    _ = try raw.bytes(count: count * text.byteCount)
    text.taken += count
    text.left -= count
  }

  /// The number of rows in the run at the front; 0 at the end.
  mutating func rowsInRun() throws(FormatError) -> Int { try metadata.peekRun()?.count ?? 0 }

  /// How many of the next rows are certainly empty byte strings; at the end, as many as needed.
  mutating func emptyRows() throws(FormatError) -> Int {
    guard let run = try metadata.peekRun() else { return .max }
    return run.value == UInt64(RawValue.Code.bytes) ? run.count : 0
  }

  /// The next row; nil at the end.
  mutating func next() throws(FormatError) -> RawValue? { try nextRun(atMost: 1)?.value(at: 0) }

  /// Throws if rows are left, and if there are bytes that belong to no row, unless allowed.
  mutating func expectEnd(allowingSpareBytes: Bool = false) throws(FormatError) {
    try metadata.expectEnd()
    if !allowingSpareBytes { try raw.expectEnd() }
  }
}
