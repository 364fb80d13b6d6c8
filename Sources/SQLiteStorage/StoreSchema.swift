import AutomergeRepo
import Cryptography
import Foundation
import GRDB

/// The tables of a store, and the rules for their rows.
///
///     item     key, SHA-256 of the bytes, bytes
///     damaged  bytes that did not match their key or hash, for a person to inspect
enum StoreSchema {
  /// Increase it when an older notes-lsp would misunderstand the tables.
  static let version = 1
  /// `note` in ASCII: marks the file as ours, for file(1) too.
  static let applicationId: Int32 = 0x6E6F_7465
  /// The longest key, as text.
  private static let maximumKeyByteCount = 4096

  /// The form of a key in the tables.
  static func text(of key: StorageKey) throws(StorageError) -> String {
    try StorageKeyText.encode(key, maximumByteCount: maximumKeyByteCount)
  }

  /// Makes the tables in an empty database, and refuses one that is not ours or too new.
  static func prepare(_ database: Database) throws {
    if try check(database) { return }
    try database.inTransaction(.immediate) {
      // Another process may have been first.
      if try check(database) { return .rollback }
      try database.execute(
        sql: """
          CREATE TABLE item (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, sha256 BLOB NOT NULL, bytes BLOB NOT NULL);
          CREATE TABLE damaged (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL, sha256 BLOB, bytes BLOB, found INTEGER NOT NULL);
          PRAGMA application_id = \(applicationId);
          PRAGMA user_version = \(version);
          """)
      return .commit
    }
  }

  /// True if the database is ours, false if it is empty.
  private static func check(_ database: Database) throws -> Bool {
    let id = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let found = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    if id == Int64(applicationId) {
      guard found <= version else {
        throw StorageError.newerVersion(found: Int(clamping: found), known: version)
      }
      return true
    }
    let tables = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
    guard id == 0, found == 0, tables == 0 else { throw StorageError.foreign }
    return false
  }

  static func save(_ key: String, _ data: Data, in database: Database) throws {
    try database.cachedStatement(
      sql: """
        INSERT INTO item (key, sha256, bytes) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes
        WHERE sha256 <> excluded.sha256 OR bytes <> excluded.bytes
        """
    ).execute(arguments: [key, hash(data), data])
  }

  static func hash(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }

  static func hexadecimal(_ bytes: Data) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

/// A row of `item` as it was found. A damaged database may have anything in any column.
struct StoredRow: Sendable {
  var id: Int64
  var keyText: String
  var sha256: Data
  var data: Data

  /// Columns: id, key, sha256, bytes. Nil if they do not have the right types.
  init?(_ row: Row) {
    guard row.count == 4, case .int64(let id) = Self.value(row, 0), case .string(let key) = Self.value(row, 1),
      case .blob(let sha256) = Self.value(row, 2), case .blob(let data) = Self.value(row, 3)
    else { return nil }
    (self.id, keyText, self.sha256, self.data) = (id, key, sha256, data)
  }

  private static func value(_ row: Row, _ index: Int) -> DatabaseValue.Storage {
    (row[index] as DatabaseValue).storage
  }

  /// - Complexity: O(n) in the bytes.
  var isSound: Bool { StoreSchema.hash(data) == sha256 }
}
