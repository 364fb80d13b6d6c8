import Foundation

/// One statement with the values of its parameters `$1`, `$2` and so on.
struct SQLStatement: Sendable {
  var sql: String
  var parameters: [SQLParameter] = []

  init(_ sql: String, _ parameters: [SQLParameter] = []) { (self.sql, self.parameters) = (sql, parameters) }

  /// The approximate size on the wire.
  var byteCount: Int { parameters.reduce(sql.utf8.count) { $0 + $1.byteCount } }
}

enum SQLParameter: Hashable, Sendable {
  /// Without NUL, which PostgreSQL refuses.
  case text(String)
  case bytes(Data)
  case integer(Int64)

  var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .bytes(let data): data.count
    case .integer: 20
    }
  }
  /// The value as it is sent: bytes unchanged, everything else as text.
  var wire: Data {
    switch self {
    case .text(let text): Data(text.utf8)
    case .bytes(let data): data
    case .integer(let number): Data("\(number)".utf8)
    }
  }
}
