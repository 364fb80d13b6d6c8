import Automerge

extension Document {
  /// Prints the outline of the document to standard output, for debugging.
  public func walk() throws { print(try outline()) }

  /// The document's content, one line for each value, indented by depth.
  public func outline() throws -> String { try schema().lines(indent: 0).joined(separator: "\n") }
}

extension AutomergeValue {
  fileprivate func lines(indent: Int, prefix: String = "") -> [String] {
    let space = String(repeating: " ", count: 2 * indent)
    switch self {
    case .scalar(let scalar): return ["\(space)\(prefix)\(scalar)"]
    case .text(let string): return ["\(space)\(prefix)Text[\(string.debugDescription)]"]
    case .dict(let entries):
      let inner = entries.sorted { $0.key < $1.key }.flatMap { key, value in
        value.lines(indent: indent + 1, prefix: "\(key.debugDescription): ")
      }
      return inner.isEmpty ? ["\(space)\(prefix){}"] : ["\(space)\(prefix){"] + inner + ["\(space)}"]
    case .array(let elements):
      let inner = elements.flatMap { $0.lines(indent: indent + 1) }
      return inner.isEmpty ? ["\(space)\(prefix)[]"] : ["\(space)\(prefix)["] + inner + ["\(space)]"]
    }
  }
}
