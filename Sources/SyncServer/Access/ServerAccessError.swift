import JSONRPC

/// Why an access file cannot be used. Never contains a token: an entry is named by its number.
public enum ServerAccessError: Error, Hashable, Sendable {
  case unreadable(path: String, reason: String)
  case tooLong(path: String, limit: Int)
  /// Any user of this machine could add a rule.
  case writableByAll(path: String)
  case notJSON(line: Int, column: Int)
  /// `place` is for example `tokens, entry 2`, and `cure` is a whole sentence without its full stop.
  case wrong(place: String, cure: String)
}

extension ServerAccessError: CustomStringConvertible {
  /// One sentence that can be shown to a person.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
    case .tooLong(let path, let limit): "\(path) is longer than \(limit >> 20) MiB"
    case .writableByAll(let path): "every user of this machine can write to \(path); run: chmod o-w '\(path)'"
    case .notJSON(let line, let column): "line \(line), column \(column) is not JSON; check quotes, commas and brackets"
    case .wrong(let place, let cure): "\(place): \(cure)"
    }
  }
}
