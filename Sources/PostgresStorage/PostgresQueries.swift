import AutomergeRepo

/// The queries over both tables.
enum PostgresQueries {
  /// Rows of: key, part, SHA-256, bytes; in no order. A single statement, so that all rows are from one snapshot.
  static func range(_ range: KeyRange) -> SQLStatement {
    let records = range.records()
    let sql = "SELECT key, part, sha256, bytes FROM notes_lsp.record WHERE \(records.sql)"
    guard let chunks = range.chunks(firstParameter: records.parameters.count + 1) else {
      return SQLStatement(sql, records.parameters)
    }
    return SQLStatement(
      """
      \(sql) UNION ALL
      SELECT document || '/' || kind || '/' || encode(sha256, 'hex') || '/', part, sha256, bytes
      FROM notes_lsp.chunk WHERE \(chunks.sql)
      """, records.parameters + chunks.parameters)
  }

  /// Rows of one name each, escaped as in keys. The same name may come from both tables.
  ///
  /// Each name takes one index lookup, which skips everything below the name.
  static func children(_ range: KeyRange) -> SQLStatement {
    let start = range.text
    let (end, condition) =
      start.isEmpty ? ("", "$2::text = ''") : (StorageKeyText.end(ofPrefix: start), "record.key < $2")
    let parameters: [SQLParameter] = [.text(start), .text(end), .integer(Int64(start.unicodeScalars.count))]
    let records = """
      WITH RECURSIVE found(key) AS (
        (SELECT key FROM notes_lsp.record AS record WHERE key > $1 AND \(condition) ORDER BY key LIMIT 1)
        UNION ALL
        SELECT (
          SELECT record.key FROM notes_lsp.record AS record
          WHERE record.key >= $1 || split_part(substr(found.key, $3::integer + 1), '/', 1) || '0' AND \(condition)
          ORDER BY record.key LIMIT 1)
        FROM found WHERE found.key IS NOT NULL
      )
      SELECT split_part(substr(key, $3::integer + 1), '/', 1) FROM found WHERE key IS NOT NULL
      """
    switch range.prefix.count {
    case 0:
      return SQLStatement(
        """
        SELECT * FROM (\(records)) AS names UNION ALL SELECT * FROM (
          WITH RECURSIVE found(document) AS (
            (SELECT document FROM notes_lsp.chunk ORDER BY document LIMIT 1)
            UNION ALL
            SELECT (
              SELECT chunk.document FROM notes_lsp.chunk AS chunk WHERE chunk.document > found.document
              ORDER BY chunk.document LIMIT 1)
            FROM found WHERE found.document IS NOT NULL
          )
          SELECT document FROM found WHERE document IS NOT NULL) AS documents
        """, parameters)
    case 1, 2:
      guard let chunks = range.chunks(firstParameter: 4) else { return SQLStatement(records, parameters) }
      let column = range.prefix.count == 1 ? "kind" : "encode(sha256, 'hex')"
      return SQLStatement(
        """
        SELECT * FROM (\(records)) AS names UNION ALL
        SELECT DISTINCT \(column) FROM notes_lsp.chunk WHERE \(chunks.sql)
        """, parameters + chunks.parameters)
    default: return SQLStatement(records, parameters)
    }
  }
}
