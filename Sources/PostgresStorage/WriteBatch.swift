import AutomergeRepo
import Foundation

/// The statements of one transaction that makes several commits.
///
/// It takes its locks first, in the same order in all processes, so that no two processes wait for each other. If a
/// commit merges records, these are read under the locks before anything is written; everything else goes to the server
/// at once.
struct WriteBatch {
  private let steps: [WriteStep]
  private let writer: WriterClaim
  /// The number that the transaction leaves in this process's row of `writer`.
  private let number: Int64

  init(_ steps: [WriteStep], by writer: WriterClaim, number: Int64) {
    (self.steps, self.writer, self.number) = (steps, writer, number)
  }

  /// The keys of the records to merge, in the order of `reading`.
  var mergedKeys: [String] {
    var keys: [String] = []
    for case .updateRecord(let key, _, _, _) in steps where !keys.contains(key) { keys.append(key) }
    return keys
  }

  /// Begins the transaction and takes its locks.
  var beginning: [SQLStatement] {
    let numbers = Set(steps.map { Self.lockNumber($0.lockName) }).sorted()
    return [
      SQLStatement("BEGIN"), writer.checking(number),
      SQLStatement(
        "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), name) FROM unnest($1::integer[]) AS name",
        [.text("{" + numbers.map { "\($0)" }.joined(separator: ",") + "}")]),
    ]
  }

  /// Reads the records to merge; empty if there are none.
  var reading: [SQLStatement] {
    mergedKeys.map { SQLStatement("SELECT part, sha256, bytes FROM notes_lsp.record WHERE key = $1", [.text($0)]) }
  }

  /// Writes everything, and commits.
  ///
  /// - Parameter stored: the current content of the records to merge
  func writing(over stored: [String: Data]) -> [SQLStatement] {
    var stored = stored
    var statements: [SQLStatement] = []
    for step in steps {
      switch step {
      case .saveChunk(let name, let data): statements += saving(name, data)
      case .saveRecord(let key, let data, let sha256):
        stored[key] = data
        statements += saving(key, data, sha256)
      case .updateRecord(let key, let data, let sha256, let record):
        let merged = record.merged(data, with: stored[key])
        stored[key] = merged
        statements += saving(key, merged, merged == data ? sha256 : WriteStep.hash(merged))
      case .removeChunk(let name):
        statements.append(
          SQLStatement("DELETE FROM notes_lsp.chunk WHERE \(ChunkName.condition(from: 1))", name.parameters))
      case .removeRecord(let key):
        stored[key] = nil
        statements.append(SQLStatement("DELETE FROM notes_lsp.record WHERE key = $1", [.text(key)]))
      case .removeRange(let range):
        for key in stored.keys where key.utf8.starts(with: range.text.utf8) { stored[key] = nil }
        let records = range.records()
        statements.append(SQLStatement("DELETE FROM notes_lsp.record WHERE \(records.sql)", records.parameters))
        if let chunks = range.chunks() {
          statements.append(SQLStatement("DELETE FROM notes_lsp.chunk WHERE \(chunks.sql)", chunks.parameters))
        }
      case .setAside(let key, let text, let sha256): statements += settingAside(key, text, sha256)
      }
    }
    return statements + [SQLStatement("COMMIT")]
  }

  // MARK: Values

  /// Keeps an intact row, and replaces one whose bytes do not match its name.
  private func saving(_ name: ChunkName, _ data: Data) -> [SQLStatement] {
    let parts = Self.parts(of: data)
    return parts.enumerated().map { index, bytes in
      let rest =
        index == parts.count - 1
        ? "WITH rest AS (DELETE FROM notes_lsp.chunk WHERE \(ChunkName.condition(from: 1)) AND part > $4)" : ""
      return SQLStatement(
        """
        \(rest) INSERT INTO notes_lsp.chunk (document, kind, sha256, part, bytes, writer) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (document, kind, sha256, part) DO UPDATE
        SET bytes = excluded.bytes, writer = excluded.writer, transaction = excluded.transaction
        WHERE chunk.bytes <> excluded.bytes
        """, name.parameters + [.integer(Int64(index)), .bytes(bytes), .text(writer.id)])
    }
  }

  private func saving(_ key: String, _ data: Data, _ sha256: Data) -> [SQLStatement] {
    let parts = Self.parts(of: data)
    return parts.enumerated().map { index, bytes in
      let rest =
        index == parts.count - 1 ? "WITH rest AS (DELETE FROM notes_lsp.record WHERE key = $1 AND part > $2)" : ""
      return SQLStatement(
        """
        \(rest) INSERT INTO notes_lsp.record (key, part, sha256, bytes) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key, part) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes
        WHERE record.sha256 <> excluded.sha256 OR record.bytes <> excluded.bytes
        """, [.text(key), .integer(Int64(index)), .bytes(sha256), .bytes(bytes)])
    }
  }

  /// Copies the value to `damaged` and removes it, if it still has this hash.
  private func settingAside(_ key: StorageKey, _ text: String, _ sha256: Data) -> [SQLStatement] {
    let (table, condition, parameters): (String, String, [SQLParameter]) =
      if let name = ChunkName(key) {
        ("notes_lsp.chunk", ChunkName.condition(from: 3), name.parameters)
      } else {
        ("notes_lsp.record", "key = $3", [.text(text)])
      }
    let whole = "string_agg(bytes, ''::bytea ORDER BY part)"
    return [
      SQLStatement(
        """
        WITH value AS (
          SELECT \(whole) AS bytes FROM \(table) WHERE \(condition)
        ), copied AS (
          INSERT INTO notes_lsp.damaged (key, bytes) SELECT $1, bytes FROM value WHERE sha256(bytes) = $2 RETURNING 1
        )
        DELETE FROM \(table) WHERE \(condition) AND EXISTS (SELECT FROM copied)
        """, [.text(text), .bytes(sha256)] + parameters)
    ]
  }

  /// An empty value is one empty part.
  static func parts(of data: Data) -> [Data] {
    guard data.count > PostgresSchema.partByteCount else { return [data] }
    return stride(from: data.startIndex, to: data.endIndex, by: PostgresSchema.partByteCount).map { start in
      data[start..<min(start + PostgresSchema.partByteCount, data.endIndex)]
    }
  }

  /// FNV-1a, folded to the width of a lock's number. Names with the same number only wait for each other.
  static func lockNumber(_ name: String) -> Int32 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int32(truncatingIfNeeded: hash ^ hash >> 32)
  }
}
