import AutomergeRepo
import Foundation
import GRDB

/// The result of checking a store.
public struct StoreReport: Hashable, Sendable, Codable {
  public var itemCount = 0
  /// SQLite's report on the file, a hundred lines at most; empty if all is well.
  public var fileProblems: [String] = []
  /// Keys whose bytes are not those that were written, or that are not valid keys.
  public var damagedKeys: [String] = []
  /// Rows that were found damaged earlier and are kept for people to inspect.
  public var asideCount = 0

  public init(fileProblems: [String] = []) { self.fileProblems = fileProblems }

  public var isSound: Bool { fileProblems.isEmpty && damagedKeys.isEmpty }
}

extension SQLiteStore {
  private static let rowsPerRead = 200

  /// Checks every byte. Other processes may continue to use the store.
  ///
  /// - Parameter repairing: rebuilds the file from what can be read, if it is damaged, and sets damaged rows aside. The report
  ///   describes the state before.
  /// - Complexity: O(n) in the bytes.
  public func check(repairing: Bool = false) async throws(StorageError) -> StoreReport {
    try await run { file throws(StorageError) in
      let problems = try file.perform { database in
        try String.fetchAll(database, sql: "PRAGMA integrity_check(100)").filter { $0 != "ok" }
      }
      if repairing, !problems.isEmpty { try file.rebuild() }
      var report = try SQLiteStore.checkRows(file, repairing: repairing)
      report.fileProblems = problems
      return report
    }
  }

  private static func checkRows(_ file: DatabaseFile, repairing: Bool) throws(StorageError) -> StoreReport {
    var report = StoreReport()
    var last: Int64 = 0
    while true {
      let from = last
      let rows = try file.perform { database in
        try Row.fetchAll(
          database, sql: "SELECT id, key, sha256, bytes FROM item WHERE id > ? ORDER BY id LIMIT \(rowsPerRead)",
          arguments: [from]
        ).map { row in
          let id = Int64.fromDatabaseValue(row[0]) ?? Int64.max
          return (id: id, key: (row[1] as DatabaseValue).description, row: StoredRow(row))
        }
      }
      guard let end = rows.last?.id else { break }
      last = end
      report.itemCount += rows.count
      let damaged = rows.filter { !($0.row.map(isWhatItSays) ?? false) }
      report.damagedKeys += damaged.map { $0.row?.keyText ?? $0.key }
      guard repairing, !damaged.isEmpty else { continue }
      let (ids, found) = (damaged.map(\.id), Int64(Date().timeIntervalSince1970 * 1000))
      try file.perform { database in
        try database.inTransaction(.immediate) {
          for id in ids {
            try database.execute(
              sql: """
                INSERT INTO damaged (key, sha256, bytes, found)
                SELECT CAST(key AS TEXT), sha256, bytes, ? FROM item WHERE id = ?
                """, arguments: [found, id])
            try database.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
          }
          return .commit
        }
      }
    }
    report.asideCount = try file.perform { try Int.fetchOne($0, sql: "SELECT count(*) FROM damaged") ?? 0 }
    return report
  }

  private static func isWhatItSays(_ row: StoredRow) -> Bool {
    guard row.isSound, let key = StorageKeyText.decode(row.keyText) else { return false }
    return !StorageKeyText.namesContent(key) || key.last == StoreSchema.hexadecimal(row.sha256)
  }
}
