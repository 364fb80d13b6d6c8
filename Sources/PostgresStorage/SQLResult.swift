internal import CPostgres
import Foundation

/// The server's answer to one statement. May be read on any thread, so that large values are not copied on the loop.
final class SQLResult: @unchecked Sendable {
  // Unchecked: libpq does not change a complete result, and this object frees it.

  private let raw: OpaquePointer

  init(owning raw: OpaquePointer) { self.raw = raw }

  deinit { PQclear(raw) }

  var rowCount: Int { Int(PQntuples(raw)) }

  /// The command that was executed, such as `COMMIT` or `INSERT 0 1`.
  var commandTag: String { PQcmdStatus(raw).map { String(cString: $0) } ?? "" }

  /// Nil for NULL, and for a column that does not exist. Columns are in binary form.
  func bytes(_ row: Int, _ column: Int) -> Data? {
    guard let bytes = pointer(row, column) else { return nil }
    return Data(bytes)
  }

  func text(_ row: Int, _ column: Int) -> String? {
    guard let bytes = pointer(row, column) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The value of a column of four or eight bytes.
  func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = pointer(row, column) else { return nil }
    let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch bytes.count {
    case 4: return Int64(Int32(truncatingIfNeeded: bits))
    case 8: return Int64(bitPattern: bits)
    default: return nil
    }
  }

  func bool(_ row: Int, _ column: Int) -> Bool? { pointer(row, column)?.first.map { $0 != 0 } }

  private func pointer(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    guard row < rowCount, column < Int(PQnfields(raw)) else { return nil }
    let (row, column) = (Int32(row), Int32(column))
    guard PQgetisnull(raw, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(start: PQgetvalue(raw, row, column), count: Int(PQgetlength(raw, row, column)))
  }
}
