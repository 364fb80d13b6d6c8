import AutomergeRepo
import Foundation

/// Joins the rows of values' parts, and verifies the values.
enum RecordRows {
  /// The value of one record, from rows of its parts: number, SHA-256 of the whole, bytes. Nil if there is no value, or
  /// it is damaged.
  static func value(of rows: SQLResult) -> Data? {
    var parts = Parts()
    for row in 0..<rows.rowCount { parts.add(rows, row, firstColumn: 0) }
    return parts.value
  }

  /// The parts of one value, in any order.
  struct Parts {
    private var bytes: [Int64: Data] = [:]
    private var sha256: Set<Data> = []

    /// Columns: part, SHA-256, bytes.
    mutating func add(_ rows: SQLResult, _ row: Int, firstColumn: Int) {
      guard let part = rows.integer(row, firstColumn), let sha256 = rows.bytes(row, firstColumn + 1),
        let data = rows.bytes(row, firstColumn + 2)
      else { return }
      bytes[part] = data
      self.sha256.insert(sha256)
    }

    /// The bytes, without comparing them with the hash.
    var joined: Data {
      if bytes.count == 1, let only = bytes[0] { return only }
      return bytes.sorted { $0.key < $1.key }.reduce(into: Data()) { $0 += $1.value }
    }

    /// Nil if the bytes do not match the hash.
    var value: Data? {
      let data = joined
      return sha256 == [WriteStep.hash(data)] ? data : nil
    }
  }
}
