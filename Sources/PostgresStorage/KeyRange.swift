import AutomergeRepo

/// The rows of both tables whose keys begin with some names, as conditions in SQL.
struct KeyRange: Sendable {
  /// For one table: an SQL condition, and its parameters, which are numbered from a given number on.
  struct Condition {
    var sql: String
    var parameters: [SQLParameter]
  }

  let prefix: StorageKey
  /// In the form of the database; empty for everything.
  let text: String

  init(_ prefix: StorageKey) { (self.prefix, text) = (prefix, StorageKeyText.prefix(prefix)) }

  func records(firstParameter number: Int = 1) -> Condition {
    guard !text.isEmpty else { return Condition(sql: "true", parameters: []) }
    return Condition(
      sql: "key >= $\(number) AND key < $\(number + 1)",
      parameters: [.text(text), .text(StorageKeyText.end(ofPrefix: text))])
  }

  /// Nil if no row of `chunk` can be below the prefix.
  func chunks(firstParameter number: Int = 1) -> Condition? {
    switch prefix.count {
    case 0: return Condition(sql: "true", parameters: [])
    case 1: return Condition(sql: "document = $\(number)", parameters: [.text(StorageKeyText.escaped(prefix[0]))])
    case 2:
      guard let kind = ChunkName.Kind(rawValue: prefix[1]) else { return nil }
      return Condition(
        sql: "document = $\(number) AND kind = $\(number + 1)",
        parameters: [.text(StorageKeyText.escaped(prefix[0])), .text(kind.rawValue)])
    default:
      return ChunkName(prefix).map { Condition(sql: ChunkName.condition(from: number), parameters: $0.parameters) }
    }
  }
}

extension ChunkName {
  /// The condition for the row or rows of one chunk.
  static func condition(from number: Int) -> String {
    "document = $\(number) AND kind = $\(number + 1) AND sha256 = $\(number + 2)"
  }

  var parameters: [SQLParameter] { [.text(document), .text(kind.rawValue), .bytes(sha256)] }
}
