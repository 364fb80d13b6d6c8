import Automerge
import JSONRPC

/// The texts of a document to choose from.
struct TextList: Sendable {
  /// The most texts in a list. A menu needs no more, and documents come from other people.
  private static let maximumListed = 1000
  /// How many paths a message names.
  private static let maximumNamed = 3

  let places: [TextPlace]
  let document: Document

  init(of document: Document) async { (self.document, places) = (document, await TextPlace.all(in: document)) }

  var json: JSONValue {
    .array(
      places.prefix(Self.maximumListed).map { place in
        [
          "text": .string(place.path), "kind": .string(place.kind.rawValue),
          "start": .string(place.start(in: document)),
        ]
      })
  }

  /// The only text of the document; nil if there are several, or only strings.
  var only: TextPlace? {
    let texts = places.filter { $0.kind == .text }
    return texts.count == 1 ? texts.first : nil
  }

  /// - Parameter path: with or without the first dot
  subscript(path: String) -> TextPlace? {
    let path = path.hasPrefix(".") ? path : "." + path
    return places.first { $0.path == path }
  }

  /// The text with these names in its path, as in an `automerge:` URL.
  subscript(names: [String]) -> TextPlace? { places.first { $0.steps.map(\.stringValue) == names } }

  /// The error that asks the person to choose, with the texts.
  /// - Parameter missing: the path of a text that the person named and the document does not have
  func choice(insteadOf missing: String?) -> ResponseError {
    let names = places.prefix(Self.maximumNamed).map { OneLine.shown($0.path) }.joined(separator: ", ")
    let rest = places.count - Self.maximumNamed
    let more = rest > 1 ? " or one of \(rest) others" : rest == 1 ? " or one other" : ""
    let problem = missing.map { "The document has no text \(OneLine.shown($0)). " } ?? ""
    return ResponseError(
      code: .requestFailed, message: "\(problem)Name the text to edit: \(names)\(more).",
      data: ["kind": "chooseText", "texts": json])
  }
}
