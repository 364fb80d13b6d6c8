import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `textDocument/definition`: the note, and the heading, that a `[[link]]` leads to; all notes with its title if there are several.
struct DefinitionRequest: EditorRequest {
  static let method = "textDocument/definition"

  private static let maximumNotes = 16

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> ListResult {
    let links = NoteLinks(editor: editor)
    guard let link = links.link(at: place) else { return ListResult(items: []) }
    var places: [NoteLinks.Place] = []
    for record in links.notes(titled: link.title).prefix(Self.maximumNotes) {
      if let place = try await links.place(of: link, in: record) { places.append(place) }
    }
    return ListResult(items: places.map(\.json))
  }
}

/// `textDocument/references`: the links to the note that the link at a place leads to, or to the buffer's own note if
/// there is no link; at most `LinkedTitle.maximumCount`.
struct ReferencesRequest: EditorRequest {
  static let method = "textDocument/references"

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> ListResult {
    let links = NoteLinks(editor: editor)
    guard let title = links.title(at: place) else { return ListResult(items: []) }
    var places: [JSONValue] = []
    for (part, titles) in await links.linking(to: title) {
      guard let uri = links.uri(of: part) else { continue }
      let room = LinkedTitle.maximumCount - places.count
      places += titles.prefix(room).map { NoteLinks.Place(uri: uri, range: $0.range).json }
    }
    return ListResult(items: places)
  }
}

/// `textDocument/completion`: the titles of notes after `[[`.
struct CompletionRequest: EditorRequest {
  static let method = "textDocument/completion"

  private static let maximumItems = 200
  /// LSP's `CompletionItemKind`.
  private static let kindReference = 18

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> Result {
    guard let line = editor.clientLine(at: place), let start = NoteLink.begun(in: line.bytes[...], before: line.offset)
    else {
      return Result(items: [], isIncomplete: false)
    }
    let typed = String(decoding: line.bytes[start..<line.offset], as: UTF8.self).lowercased()
    // An editor that closes brackets automatically has inserted them already.
    let isClosed = line.bytes.dropFirst(line.offset).starts(with: "]]".utf8)
    let range = line.range(start..<line.offset + (isClosed ? 2 : 0))
    var (seen, found): (Set<String>, [String]) = ([], [])
    for title in editor.service.notebook.byModification.map(\.title)
    where title.lowercased().hasPrefix(typed) && NoteLink.canName(title) && OneLine.shown(title) == title
      && seen.insert(title).inserted
    {
      found.append(title)
      if found.count > Self.maximumItems { break }
    }
    return Result(
      items: found.prefix(Self.maximumItems).map { title in
        [
          "label": .string(title), "kind": JSONValue(Self.kindReference),
          "textEdit": ["range": range.json, "newText": .string(title + "]]")], "filterText": .string(title),
        ]
      }, isIncomplete: found.count > Self.maximumItems)
  }

  struct Result: RequestResult {
    let items: [JSONValue]
    /// Whether there are more than are listed.
    let isIncomplete: Bool

    var json: JSONValue { ["isIncomplete": .bool(isIncomplete), "items": .array(items)] }
  }
}
