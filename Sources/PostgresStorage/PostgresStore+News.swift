import AutomergeRepo

extension PostgresStore {
  /// Some rows of `chunk`, in the order of their transactions.
  struct NewsPage {
    /// No transaction with a lower number was running when the page was read.
    var settled: UInt64 = 0
    var chunks: [StorageKey] = []
    /// Where the next page begins; nil if this is the last.
    var next: NewsPosition?
  }

  /// A position between rows: after this row, or, with only a transaction, before all of that one's rows.
  struct NewsPosition {
    var transaction: UInt64
    var document = ""
    var kind = ""
    var hash = ""
  }

  private static let newsPageCount = 1000

  /// The rows that other processes have stored from a position on; with nil, only the present mark.
  func news(from position: NewsPosition?) async throws(StorageError) -> NewsPage {
    guard let position else {
      let rows = try await client.read(SQLStatement("SELECT pg_snapshot_xmin(pg_current_snapshot())"))
      return NewsPage(settled: Self.number(rows, 0) ?? 0)
    }
    // Use one statement, so that the mark and the rows are from one snapshot.
    let rows = try await client.read(
      SQLStatement(
        """
        (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS transaction, NULL AS document, NULL AS kind, NULL AS hash)
        UNION ALL
        (SELECT transaction, document, kind, encode(sha256, 'hex') FROM notes_lsp.chunk
        WHERE (transaction, document, kind, sha256) > ($1, $2, $3, decode($4, 'hex'))
        AND transaction >= $1 AND writer <> $5 AND part = 0
        ORDER BY transaction, document, kind, sha256 LIMIT $6)
        """,
        [
          .text("\(position.transaction)"), .text(position.document), .text(position.kind), .text(position.hash),
          .text(processId), .integer(Int64(Self.newsPageCount)),
        ]))
    var page = NewsPage()
    for row in 0..<rows.rowCount {
      guard let transaction = Self.number(rows, row) else { continue }
      guard let document = rows.text(row, 1), let kind = rows.text(row, 2), let hash = rows.text(row, 3) else {
        page.settled = transaction
        continue
      }
      if let name = StorageKeyText.unescaped(document.utf8) { page.chunks.append([name, kind, hash]) }
      if rows.rowCount > Self.newsPageCount {
        page.next = NewsPosition(transaction: transaction, document: document, kind: kind, hash: hash)
      }
    }
    return page
  }

  private static func number(_ rows: SQLResult, _ row: Int) -> UInt64? {
    rows.integer(row, 0).map { UInt64(bitPattern: $0) }
  }
}
