/// A process's right to write, and the number of its last commit, as stored in its row of `writer`.
///
/// A process has one connection that writes. When that is lost, its last transaction may still be running in the server
/// and be committed after what the process writes next, or its COMMIT may have succeeded without the answer arriving.
/// So each new connection raises the row's epoch, and each transaction first checks its epoch and stores its number.
/// Then
/// - a transaction of an earlier connection either has committed before the epoch was raised, or never will;
/// - the number says whether an unanswered commit was made, so that no commit is made twice;
/// - a number lower than one reported as stored shows that an older database has replaced this one.
struct WriterClaim {
  /// A UUID as text; new for each process.
  let id: String
  var epoch: Int64 = 0

  /// Removes rows of processes that are long gone, so that there are never many.
  static let removal = SQLStatement("DELETE FROM notes_lsp.writer WHERE seen < now() - interval '30 days'")

  /// Ends earlier connections of this process that the server still considers alive; we would wait for their locks.
  func terminating(applicationName: String) -> SQLStatement {
    SQLStatement(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = $1 AND pid <> pg_backend_pid() AND usename = current_user
      """, [.text(applicationName)])
  }

  /// Returns one row: the epoch, and the number of the last commit.
  var raising: SQLStatement {
    SQLStatement(
      """
      INSERT INTO notes_lsp.writer AS writer (id, epoch, number) VALUES ($1, 1, 0)
      ON CONFLICT (id) DO UPDATE SET epoch = writer.epoch + 1, seen = now() RETURNING epoch, number
      """, [.text(id)])
  }

  /// Divides by zero unless the row has our epoch: the error prevents the transaction from committing.
  func checking(_ number: Int64) -> SQLStatement {
    SQLStatement(
      """
      WITH mine AS (
        UPDATE notes_lsp.writer SET number = $3, seen = now() WHERE id = $1 AND epoch = $2 RETURNING 1
      ) SELECT 1 / count(*) FROM mine
      """, [.text(id), .integer(epoch), .integer(number)])
  }

  var leaving: SQLStatement { SQLStatement("DELETE FROM notes_lsp.writer WHERE id = $1", [.text(id)]) }
}
