import AutomergeRepo
import JSONRPC

/// `textDocument/inlayHint`: other people's carets, each with the person's name.
struct InlayHintRequest: EditorRequest {
  static let method = "textDocument/inlayHint"

  private static let maximumNameWidth = 16

  let uri: String
  let range: PositionRange

  init(_ params: Parameters) throws(ResponseError) {
    uri = try params.documentURI()
    range = try params.positionRange("range")
  }

  func perform(for editor: Editor) async throws -> ListResult {
    guard case .attached(let binding)? = editor.buffers[uri] else { return ListResult(items: []) }
    let carets = binding.others.flatMap { peer in peer.ranges.map { (peer.person.name, $0.end) } }
    return ListResult(
      items: carets.filter { range.start <= $0.1 && $0.1 <= range.end }.map { name, place in
        [
          "position": place.json,
          "label": .string("▏" + DisplayWidth.cut(OneLine.shown(name), to: Self.maximumNameWidth)),
          "tooltip": .string("\(OneLine.shown(name)) is here"),
        ]
      })
  }
}

/// `textDocument/documentHighlight`: what other people have selected, wherever the client's caret is.
struct DocumentHighlightRequest: EditorRequest {
  static let method = "textDocument/documentHighlight"

  /// LSP's `DocumentHighlightKind`.
  private static let kindText = 1

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.documentURI() }

  func perform(for editor: Editor) async throws -> ListResult {
    guard case .attached(let binding)? = editor.buffers[uri] else { return ListResult(items: []) }
    let selections = binding.others.flatMap(\.ranges).filter { $0.start < $0.end }
    return ListResult(items: selections.map { ["range": $0.json, "kind": JSONValue(Self.kindText)] })
  }
}

/// `textDocument/hover`: who wrote the text at a position, and when.
struct HoverRequest: EditorRequest {
  static let method = "textDocument/hover"

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> Result {
    guard case .attached? = editor.buffers[place.uri] else { return Result(span: nil, time: "") }
    let past = try await PastNote(.uri(place.uri), editor)
    // The largest number has no successor.
    let start = Position(line: place.position.line, character: min(place.position.character, .max - 1))
    let end = Position(line: start.line, character: start.character + 1)
    var span = try Blame(past, editor, in: PositionRange(start: start, end: end)).spans().first
    if span == nil {
      // A caret that rests behind the last letter of a line gets the author of that letter.
      let line = PositionRange(start: Position(line: start.line, character: 0), end: start)
      span = try Blame(past, editor, in: line).spans().last
    }
    let time = ScreenTime(now: editor.service.clock.date)
    return Result(span: span, time: span.map { time.full($0.time) } ?? "")
  }

  struct Result: RequestResult {
    let span: Blame.Span?
    let time: String

    var json: JSONValue {
      guard let span else { return .null }
      let words = "\(OneLine.shown(span.author)), \(time)"
      return ["contents": ["kind": "plaintext", "value": .string(words)]]
    }
  }
}

/// `textDocument/documentSymbol`: the headings of a text, each with those below it.
struct DocumentSymbolRequest: EditorRequest {
  static let method = "textDocument/documentSymbol"

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.documentURI() }

  func perform(for editor: Editor) async throws -> ListResult {
    guard let text = editor.clientText(of: uri) else { return ListResult(items: []) }
    let lines = text.count { $0 == 0x0A }
    var headings = Headings.all(in: text)[...]
    return ListResult(items: Self.symbols(&headings, above: 0, end: lines))
  }

  /// Takes the headings off the front that are deeper than a level.
  private static func symbols(
    _ headings: inout ArraySlice<Headings.Heading>, above level: Int, end: Int
  ) -> [JSONValue] {
    var symbols: [JSONValue] = []
    while let first = headings.first, first.level > level {
      headings = headings.dropFirst()
      let last = headings.first { $0.level <= first.level }.map { $0.line - 1 } ?? end
      let children = Self.symbols(&headings, above: first.level, end: last)
      let start = Position(line: first.line, character: 0)
      symbols.append([
        "name": .string(OneLine.shown(first.title)), "kind": JSONValue(SymbolRequest.Symbol.Kind.string.rawValue),
        "range": PositionRange(start: start, end: Position(line: max(first.line, last), character: 0)).json,
        "selectionRange": PositionRange(start: start, end: start).json, "children": .array(children),
      ])
    }
    return symbols
  }
}
