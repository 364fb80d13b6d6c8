/// An object's content as one value that is independent of the document.
public enum AutomergeValue: Hashable, Sendable {
  case dict([String: AutomergeValue])
  case array([AutomergeValue])
  case text(String)
  case scalar(ScalarValue)
}

extension AutomergeValue: CustomStringConvertible {
  /// One line, keys in order: maps in braces, lists in brackets, texts as `T{…}`.
  public var description: String {
    switch self {
    case .dict(let entries):
      let parts = entries.sorted { $0.key < $1.key }.map { "\($0.key.debugDescription): \($0.value)" }
      return "{[\(parts.isEmpty ? ":" : parts.joined(separator: ", "))]}"
    case .array(let elements): return "[[\(elements.map(\.description).joined(separator: ", "))]]"
    case .text(let string): return "T{\(string)}"
    case .scalar(let scalar): return "\(scalar)"
    }
  }
}
