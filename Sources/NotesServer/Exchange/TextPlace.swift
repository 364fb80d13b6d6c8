import Automerge
import JSONRPC

/// A text somewhere in a document, or a plain string that can be made one.
struct TextPlace: Hashable, Sendable {
  enum Kind: String {
    case text
    /// A single value, which is replaced as a whole, so two people cannot write in it at once.
    case string
  }

  let kind: Kind
  /// The keys and indices of the path to it.
  let steps: [AnyCodingKey]
  /// The object that contains it.
  let container: ObjId
  /// The text; nil for a string.
  let text: ObjId?

  /// Its path as people write it: `.chapters.[0].body`.
  var path: String { steps.stringPath() }

  /// Members of the root that people do not edit as texts.
  private static let others: Set<AnyCodingKey> = [
    AnyCodingKey("@notes"), AnyCodingKey("people"), AnyCodingKey("title"),
  ]

  /// How deep texts are offered. Documents come from anywhere, and each text has its whole path.
  private static let maximumDepth = 100
  /// The most texts that are offered, and the most strings.
  private static let maximumCount = 10_000

  /// An object on the path to texts.
  private struct Container {
    let object: ObjId
    /// The object that contains it, by its index, and the step from there; nil for the root.
    let origin: (index: Int, step: AnyCodingKey)?
    let depth: Int
  }

  /// The texts and strings except the root's title: texts first, and those nearer to the root before deeper ones. Off
  /// the loop.
  ///
  /// - Complexity: O(n) in the document, in time and in memory
  @concurrent
  static func all(in document: Document) async -> [TextPlace] {
    var (texts, strings): ([TextPlace], [TextPlace]) = ([], [])
    var containers = [Container(object: .ROOT, origin: nil, depth: 0)]
    var next = 0
    while next < containers.count {
      let (index, container) = (next, containers[next])
      next += 1
      for (step, value) in values(of: container.object, in: document)
      where !(index == 0 && others.contains(step)) {
        switch value {
        case .Object(let text, .Text):
          guard texts.count < maximumCount else { break }
          let path = steps(to: index, in: containers) + [step]
          texts.append(TextPlace(kind: .text, steps: path, container: container.object, text: text))
        case .Object(let object, _):
          guard container.depth < maximumDepth else { break }
          containers.append(Container(object: object, origin: (index, step), depth: container.depth + 1))
        case .Scalar(.String):
          guard strings.count < maximumCount else { break }
          let path = steps(to: index, in: containers) + [step]
          strings.append(TextPlace(kind: .string, steps: path, container: container.object, text: nil))
        case .Scalar: break
        }
      }
    }
    return texts + strings
  }

  private static func steps(to index: Int, in containers: [Container]) -> [AnyCodingKey] {
    var steps: [AnyCodingKey] = []
    var origin = containers[index].origin
    while let (index, step) = origin {
      steps.append(step)
      origin = containers[index].origin
    }
    return steps.reversed()
  }

  private static func values(of container: ObjId, in document: Document) -> [(AnyCodingKey, Value)] {
    switch document.objectType(obj: container) {
    case .Map: ((try? document.mapEntries(obj: container)) ?? []).map { (AnyCodingKey($0.0), $0.1) }
    case .List:
      ((try? document.values(obj: container)) ?? []).enumerated().map { (AnyCodingKey(UInt64($0.offset)), $0.element) }
    case .Text: []
    }
  }

  /// The first line that is not empty, cut to the width of a menu.
  func start(in document: Document) -> String {
    let content: String? =
      if let text { try? document.text(obj: text) } else { try? string(in: document) }
    let line = (content ?? "").split(whereSeparator: \.isNewline).first { $0.contains { !$0.isWhitespace } }
    return OneLine.shown(String((line ?? "").unicodeScalars.prefix(Self.startLength)))
  }

  private static let startLength = 60

  /// Turns a string into a text; does nothing for a text. The caller commits.
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

  /// The document's string at this place; throws if there is something else now.
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
