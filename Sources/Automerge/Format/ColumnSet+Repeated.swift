extension ColumnSet {
  /// How many bytes the strings of these columns take if each row has its own, less those that the columns hold. A run-length encoded
  /// column may put one long string in a million rows.
  /// - Complexity: O(n) in the runs
  func repeatedByteCount(_ specs: ColumnSpec...) throws(FormatError) -> Int {
    var total = 0
    for spec in specs { total = total.addingSaturating(try Self.repeatedByteCount(self[spec])) }
    return total
  }

  /// The same for the keys and the names of marks in a table of operations.
  var repeatedNameByteCount: Int {
    get throws(FormatError) { try repeatedByteCount(ColumnSpec.Op.keyString, ColumnSpec.Op.markName) }
  }

  static func repeatedByteCount(_ column: ArraySlice<UInt8>) throws(FormatError) -> Int {
    var reader = ByteReader(column), total = 0
    while !reader.isAtEnd {
      let rows = try reader.sleb()
      if rows > 0 {
        let byteCount = try reader.count(itemByteCount: 1)
        try reader.skip(count: byteCount)
        let (product, isTooLarge) = byteCount.multipliedReportingOverflow(by: Int(rows) - 1)
        total = isTooLarge ? .max : total.addingSaturating(product)
      } else if rows == 0 {
        _ = try reader.uleb()
      } else {
        // As many strings follow, each of at least one byte.
        guard rows.magnitude <= UInt64(reader.remaining) else { throw .truncated(at: reader.offset) }
        for _ in 0..<rows.magnitude { try reader.skipLengthPrefixed() }
      }
    }
    return total
  }
}

extension Int {
  /// The sum of two counts, or the greatest one.
  func addingSaturating(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}

extension FormatLimits {
  /// Takes from a budget what repeated strings or other rows of a chunk stand for.
  static func take(_ byteCount: Int, from budget: inout Int) throws(FormatError) {
    let limit = min(budget, repeatedByteCount)
    guard byteCount <= limit else { throw .tooMany(limit: limit, at: 0) }
    budget -= byteCount
  }

  /// The same for strings that are written only to be hashed, one change at a time: that takes little time, and no memory.
  static func take(hashed byteCount: Int, from budget: inout Int) throws(FormatError) {
    guard byteCount <= repeatedByteCount else { throw .tooMany(limit: repeatedByteCount, at: 0) }
    try take(byteCount / hashedRatio, from: &budget)
  }

  /// Hashing a byte costs about an eighth of inflating it and reading the result.
  private static let hashedRatio = 8
}
