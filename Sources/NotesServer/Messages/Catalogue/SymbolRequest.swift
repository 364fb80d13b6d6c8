import AutomergeRepo
import JSONRPC

/// `workspace/symbol`: notes by title, and the headings in them. Without a query: the titles.
struct SymbolRequest: EditorRequest {
  static let method = "workspace/symbol"

  private static let maximumSymbols = 500

  let query: String

  init(_ params: Parameters) throws(ResponseError) { query = try params.string("query") }

  func perform(for editor: Editor) async throws -> Result {
    let search = TextSearch(query)
    let texts = NoteTexts(service: editor.service)
    var symbols: [Symbol] = []
    for record in editor.service.notebook.byModification {
      for part in texts.parts(of: record) {
        guard symbols.count < Self.maximumSymbols else { return Result(symbols: symbols) }
        guard let path = part.path else { continue }
        let title = part.item == nil ? record.title : "\(record.title) – \(part.title)"
        if search.matches(title) {
          symbols.append(Symbol(name: title, kind: .file, path: path, line: 0, container: nil))
        }
        guard !query.isEmpty, let text = await texts.text(of: part) else { continue }
        for heading in Headings.all(in: text) where search.matches(heading.title) {
          symbols.append(
            Symbol(name: OneLine.shown(heading.title), kind: .string, path: path, line: heading.line, container: title))
        }
      }
    }
    return Result(symbols: symbols)
  }

  struct Symbol {
    /// LSP's `SymbolKind`.
    enum Kind: Int { case file = 1, string = 15 }

    let name: String
    let kind: Kind
    let path: String
    let line: Int
    let container: String?

    var json: JSONValue {
      let position = Position(line: line, character: 0)
      return .object(present: [
        "name": .string(name), "kind": JSONValue(kind.rawValue), "containerName": container.map(JSONValue.string),
        "location": [
          "uri": .string(FileURI.uri(path: path)), "range": PositionRange(start: position, end: position).json,
        ],
      ])
    }
  }

  struct Result: RequestResult {
    let symbols: [Symbol]

    var json: JSONValue { .array(symbols.map(\.json)) }
  }
}
