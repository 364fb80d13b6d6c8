internal import CPostgres
import Foundation

/// The address of a database: `postgres://user@host:port/database`, or through a unix socket
/// `postgres:///database?host=/run/postgresql`.
///
/// Everything that libpq accepts may follow as a parameter (`sslmode`, `sslrootcert`, `target_session_attrs`, several
/// hosts). Other users may see the URL, so keep a password out of it: in `~/.pgpass` or `PGPASSWORD`.
public struct PostgresURL: Hashable, Sendable {
  /// The text is not such a URL; the description says why.
  public struct Invalid: LocalizedError, Hashable, CustomStringConvertible {
    public let description: String

    public var errorDescription: String? { description }
  }

  /// The URL as given, with its password if it has one.
  let text: String
  private let shown: String

  /// Whether a text is meant to be such a URL, correct or not.
  public static func hasScheme(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  public init(_ text: String) throws(Invalid) {
    guard Self.hasScheme(text) else { throw Invalid(description: "a database's URL begins with postgres://") }
    guard !text.utf8.contains(0) else { throw Invalid(description: "a URL has no zero byte") }
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &message) else {
      defer { PQfreemem(message) }
      let reason = message.map { String(cString: $0) } ?? "it cannot be read"
      throw Invalid(description: String(reason.prefix { !$0.isNewline }))
    }
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var next = options
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.val { values[String(cString: keyword)] = String(cString: value) }
      next += 1
    }
    self.text = text
    let user = values["user"].map { $0 + "@" } ?? ""
    let port = values["port"].map { ":" + $0 } ?? ""
    shown = "postgres://\(user)\(values["host"] ?? "")\(port)/\(values["dbname"] ?? "")"
  }
}

extension PostgresURL: CustomStringConvertible {
  /// The URL without password and parameters, for a log.
  public var description: String { shown }
}
