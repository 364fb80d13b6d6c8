/// Writes a column of booleans as alternating run lengths, the first for `false`.
struct BooleanEncoder {
  private var output = ByteWriter()
  private var last = false
  private var runCount = 0
  private(set) var count = 0
  /// Whether any row is true. Some columns are omitted from a chunk if none is.
  private(set) var hasTrue = false

  init() {}

  mutating func append(_ value: Bool, count: Int = 1) {
    guard count > 0 else { return }
    self.count += count
    if value { hasTrue = true }
    if value != last {
      output.uleb(runCount)
      (last, runCount) = (value, 0)
    }
    runCount += count
  }

  /// The column's bytes. The encoder is empty afterwards.
  mutating func finish() -> [UInt8] {
    if runCount > 0 { output.uleb(runCount) }
    defer { self = BooleanEncoder() }
    return output.bytes
  }
}
