/// Values of one type and byte length in consecutive rows, their bytes back to back.
struct ValueRun {
  /// Type code. Source: `RawValue.Code`.
  let code: UInt8
  /// Bytes of each value.
  let byteCount: Int
  var count: Int
  /// `count * byteCount` bytes, sharing the column's buffer.
  var bytes: ArraySlice<UInt8>

  /// Whether each value is a string of exactly one Unicode scalar, so that the run is typed text.
  /// - Complexity: O(n) in the bytes.
  var isText: Bool {
    guard code == RawValue.Code.string, (1...4).contains(byteCount) else { return false }
    if byteCount == 1 { return bytes.allSatisfy { $0 < 0x80 } }
    guard String(validating: bytes, as: UTF8.self) != nil else { return false }
    return stride(from: bytes.startIndex, to: bytes.endIndex, by: byteCount).allSatisfy {
      bytes[$0] >= 0xc0 && UTF8Scalar.byteCount(lead: bytes[$0]) == byteCount
    }
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

  init(
    metadata: ArraySlice<UInt8>, raw: ArraySlice<UInt8>, mode: ColumnMode, limit: Int = FormatLimits.rows
  ) {
    self.metadata = RunLengthDecoder(metadata, mode: mode, limit: limit)
    self.raw = ByteReader(raw)
  }

  var offset: Int { metadata.offset }

  /// The next rows of one type and length, at most `count` of them; nil at the end.
  /// The bytes are there, but `RawValue` checks what they mean when a value is asked for.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> ValueRun? {
    guard let run = try metadata.nextRun(atMost: count) else { return nil }
    guard let word = run.value else { throw .unexpectedNull(at: metadata.offset) }
    guard let byteCount = Int(exactly: word >> 4) else { throw .integerTooLarge(at: metadata.offset) }
    let (total, overflow) = byteCount.multipliedReportingOverflow(by: run.count)
    guard !overflow else { throw .truncated(at: raw.offset) }
    return ValueRun(
      code: UInt8(word & 15), byteCount: byteCount, count: run.count, bytes: try raw.bytes(count: total))
  }

  /// How many rows the run at the front has; 0 at the end.
  mutating func rowsInRun() throws(FormatError) -> Int { try metadata.peekRun()?.count ?? 0 }

  /// How many of the next rows are byte strings without bytes for sure; as many as one likes at the end.
  mutating func emptyRows() throws(FormatError) -> Int {
    guard let run = try metadata.peekRun() else { return .max }
    return run.value == UInt64(RawValue.Code.bytes) ? run.count : 0
  }

  /// The next row; nil at the end.
  mutating func next() throws(FormatError) -> RawValue? { try nextRun(atMost: 1)?.value(at: 0) }

  /// Throws if rows are left. Bytes that no row claims are an error too, unless allowed.
  mutating func expectEnd(allowingSpareBytes: Bool = false) throws(FormatError) {
    try metadata.expectEnd()
    if !allowingSpareBytes { try raw.expectEnd() }
  }
}
