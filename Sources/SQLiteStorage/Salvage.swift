import AutomergeRepo
import Foundation
import GRDB

/// Copies every readable row of a damaged database.
enum Salvage {
  /// This many consecutive unreadable rows count as the end, if the database does not say where the end is.
  private static let maximumGap = 20_000
  private static let rowsPerTransaction = 500

  static func open(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "salvage"
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Copies the sound rows that the other database lacks, and the unsound ones into its table `damaged`.
  /// - Returns: how many rows were sound
  /// - Complexity: O(n) in the highest row id.
  static func copy(from old: DatabaseQueue, to new: DatabaseQueue) throws -> Int {
    let last = try? old.writeWithoutTransaction { try Int64.fetchOne($0, sql: "SELECT max(id) FROM item") } ?? 0
    var (id, gap, count) = (Int64(0), 0, 0)
    while last.map({ id < $0 }) ?? (gap < maximumGap) {
      var rows: [StoredRow] = []
      let from = id
      // Read many rows at once while they are sound, and one by one where there is damage.
      let batch = try? old.writeWithoutTransaction { database in
        try Row.fetchAll(
          database, sql: "SELECT id, key, sha256, bytes FROM item WHERE id > ? ORDER BY id LIMIT \(rowsPerTransaction)",
          arguments: [from])
      }
      if let batch {
        if batch.isEmpty { break }
        rows = batch.compactMap(StoredRow.init)
        id = batch.reduce(from) { last, row in
          if case .int64(let id) = (row[0] as DatabaseValue).storage { max(last, id) } else { last }
        }
        if id == from { break }
        gap = 0
      } else {
        for _ in 0..<rowsPerTransaction {
          id += 1
          if let row = row(id, in: old) {
            rows.append(row)
            gap = 0
          } else {
            gap += 1
          }
        }
      }
      count += try write(rows, to: new)
    }
    return count
  }

  private static func row(_ id: Int64, in database: DatabaseQueue) -> StoredRow? {
    let row = try? database.writeWithoutTransaction { database in
      try Row.fetchOne(database, sql: "SELECT id, key, sha256, bytes FROM item WHERE id = ?", arguments: [id])
    }
    return (row ?? nil).flatMap(StoredRow.init)
  }

  private static func write(_ rows: [StoredRow], to new: DatabaseQueue) throws -> Int {
    let sound = rows.filter { $0.isSound && StorageKeyText.decode($0.keyText) != nil }
    let found = Int64(Date().timeIntervalSince1970 * 1000)
    try new.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        for row in sound {
          try database.cachedStatement(sql: "INSERT OR IGNORE INTO item (key, sha256, bytes) VALUES (?, ?, ?)")
            .execute(arguments: [row.keyText, row.sha256, row.data])
        }
        for row in rows where !row.isSound {
          try database.cachedStatement(sql: "INSERT INTO damaged (key, sha256, bytes, found) VALUES (?, ?, ?, ?)")
            .execute(arguments: [row.keyText, row.sha256, row.data, found])
        }
        return .commit
      }
    }
    return sound.count
  }
}
