internal import CPostgres

/// One answer of libpq.
enum SQLOutcome {
  case rows(SQLResult)
  case failed(SQLFailure)
  /// Not executed, because an earlier statement before the same synchronization failed.
  case skipped
  case synchronized

  init(owning raw: OpaquePointer) {
    let status = PQresultStatus(raw)
    if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
      self = .rows(SQLResult(owning: raw))
      return
    }
    defer { PQclear(raw) }
    switch status {
    case PGRES_PIPELINE_SYNC: self = .synchronized
    case PGRES_PIPELINE_ABORTED: self = .skipped
    default:
      let message = PQresultErrorMessage(raw).map { Self.firstLine(String(cString: $0)) } ?? ""
      guard let state = notes_sql_state(raw) else {
        // Made by libpq when the connection has ended.
        self = .failed(.lost(message))
        return
      }
      let primary = notes_primary_message(raw).map { String(cString: $0) } ?? message
      let code = String(cString: state)
      // Class 57P: the administrator or a crash has ended the connection.
      self = .failed(code.hasPrefix("57P") ? .lost(primary) : .refused(state: code, message: primary))
    }
  }

  var failure: SQLFailure? { if case .failed(let failure) = self { failure } else { nil } }

  static func firstLine(_ text: String) -> String {
    String(text.prefix { !$0.isNewline }.drop { $0.isWhitespace })
  }
}
