import Automerge
import JSONRPC

/// A text somewhere in a document, or a plain string that can be made one.
struct TextPlace: Hashable, Sendable {
  enum Kind: String {
    case text
    /// A single value: it is replaced as a whole, so two people cannot write in it at once.
    case string
  }

  let kind: Kind
  /// The keys and indices that lead to it.
  let steps: [AnyCodingKey]
  /// What the last step leaves.
  let container: ObjId
  /// The text; nil for a string.
  let text: ObjId?

  /// As people name it: `.chapters.[0].body`.
  var path: String { steps.stringPath() }

  /// Members of the root that no one edits as a text.
  private static let others: Set<AnyCodingKey> = [
    AnyCodingKey("@notes"), AnyCodingKey("people"), AnyCodingKey("title"),
  ]

  /// All texts and strings but the root's title, texts first, those nearer to the root before those deeper in. Off the loop.
  ///
  /// - Complexity: O(n) in the document.
  @concurrent
  static func all(in document: Document) async -> [TextPlace] {
    var (found, containers): ([TextPlace], [(ObjId, [AnyCodingKey])]) = ([], [(.ROOT, [])])
    var next = 0
    while next < containers.count {
      let (container, steps) = containers[next]
      next += 1
      for (step, value) in values(of: container, in: document) where !(steps.isEmpty && others.contains(step)) {
        let path = steps + [step]
        switch value {
        case .Object(let text, .Text):
          found.append(TextPlace(kind: .text, steps: path, container: container, text: text))
        case .Object(let object, _): containers.append((object, path))
        case .Scalar(.String): found.append(TextPlace(kind: .string, steps: path, container: container, text: nil))
        case .Scalar: break
        }
      }
    }
    return found.filter { $0.kind == .text } + found.filter { $0.kind == .string }
  }

  private static func values(of container: ObjId, in document: Document) -> [(AnyCodingKey, Value)] {
    switch document.objectType(obj: container) {
    case .Map: ((try? document.mapEntries(obj: container)) ?? []).map { (AnyCodingKey($0.0), $0.1) }
    case .List:
      ((try? document.values(obj: container)) ?? []).enumerated().map { (AnyCodingKey(UInt64($0.offset)), $0.element) }
    case .Text: []
    }
  }

  /// The first line that has something in it, cut to the width of a menu.
  func start(in document: Document) -> String {
    let content: String? =
      if let text { try? document.text(obj: text) } else { try? string(in: document) }
    let line = (content ?? "").split(whereSeparator: \.isNewline).first { $0.contains { !$0.isWhitespace } }
    return OneLine.shown(String((line ?? "").unicodeScalars.prefix(Self.startLength)))
  }

  private static let startLength = 60

  /// Makes a text of the string, if it is one. The caller commits.
  ///
  /// - Returns: the text
  func makeText(in document: Document) throws -> ObjId {
    if let text { return text }
    let content = try string(in: document)
    guard let step = steps.last else { throw NotesError.notANote }
    let made =
      if let index = step.intValue {
        try document.putObject(obj: container, index: UInt64(index), ty: .Text)
      } else {
        try document.putObject(obj: container, key: step.stringValue, ty: .Text)
      }
    try document.spliceText(obj: made, utf8Offset: 0, deleteUTF8: 0, insert: Array(content.utf8))
    return made
  }

  /// What the document has as a string there; throws if that is something else now.
  private func string(in document: Document) throws -> String {
    guard let step = steps.last else { throw NotesError.notANote }
    let value =
      if let index = step.intValue {
        try document.get(obj: container, index: UInt64(index))
      } else {
        try document.get(obj: container, key: step.stringValue)
      }
    guard case .Scalar(.String(let content))? = value else {
      throw NotesError(.conflict, "\(path) was changed meanwhile; try again.")
    }
    return content
  }
}
