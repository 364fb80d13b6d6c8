/// Writes a column of numbers as runs of differences, so that consecutive ids cost nothing.
///
/// Differences wrap around in 64 bits, so any two numbers may follow each other.
struct DeltaEncoder {
  private var runs = RunLengthEncoder<Int64>()
  private var previous: Int64 = 0

  init() {}

  var count: Int { runs.count }
  var hasValues: Bool { runs.hasValues }

  mutating func append(_ value: Int64) {
    runs.append(value &- previous)
    previous = value
  }

  mutating func append(_ value: Int64?) {
    if let value { append(value) } else { appendNull() }
  }

  mutating func appendNull(count: Int = 1) { runs.appendNull(count: count) }

  /// Appends `count` numbers, `first`, `first + step`, …, in O(1).
  mutating func appendAscending(_ first: Int64, count: Int, step: Int64 = 1) {
    guard count > 0 else { return }
    append(first)
    runs.append(step, count: count - 1)
    previous = first &+ Int64(count - 1) &* step
  }

  /// The column's bytes. The encoder is empty afterwards.
  mutating func finish() -> [UInt8] {
    previous = 0
    return runs.finish()
  }

  /// Like `finish`, but empty for a column of only nulls.
  mutating func finishUnlessNull() -> [UInt8] {
    previous = 0
    return runs.finishUnlessNull()
  }
}
