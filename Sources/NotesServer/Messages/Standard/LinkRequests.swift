import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `textDocument/definition`: the note, and the heading, that a `[[link]]` leads to.
struct DefinitionRequest: EditorRequest {
  static let method = "textDocument/definition"

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> ListResult {
    let links = NoteLinks(editor: editor)
    guard let link = links.link(at: place) else { return ListResult(items: []) }
    return ListResult(items: try await links.target(of: link).map { [$0.json] } ?? [])
  }
}

/// `textDocument/references`: the links to the note that the link at a place leads to; elsewhere, those to the buffer's own note.
struct ReferencesRequest: EditorRequest {
  static let method = "textDocument/references"

  let place: DocumentPosition

  init(_ params: Parameters) throws(ResponseError) { place = try DocumentPosition(params) }

  func perform(for editor: Editor) async throws -> ListResult {
    let links = NoteLinks(editor: editor)
    guard let title = links.title(at: place) else { return ListResult(items: []) }
    let found = await links.linking(to: title)
    return ListResult(
      items: found.flatMap { part, text, found in
        links.uri(of: part).map { links.places(of: found, in: text, uri: $0) } ?? []
      }.map(\.json))
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
    guard let lines = editor.clientLines(of: place.uri) else { return Result(items: [], isIncomplete: false) }
    let (line, offset) = lines.place(place.position)
    guard let start = NoteLink.begun(in: lines.lines[line], before: offset) else {
      return Result(items: [], isIncomplete: false)
    }
    let bytes = lines.lines[line]
    let typed = String(decoding: bytes.prefix(offset).dropFirst(start), as: UTF8.self).lowercased()
    // An editor that closes brackets by itself has put them there already.
    let isClosed = bytes.dropFirst(offset).starts(with: Array("]]".utf8))
    let range = lines.range(inLine: line, start..<offset + (isClosed ? 2 : 0))
    var (seen, found): (Set<String>, [String]) = ([], [])
    for title in editor.service.notebook.byModification.map(\.title)
    where title.lowercased().hasPrefix(typed) && !title.contains("]") && OneLine.shown(title) == title
      && seen.insert(title).inserted
    {
      found.append(title)
      if found.count > Self.maximumItems { break }
    }
    return Result(
      items: found.prefix(Self.maximumItems).map { title in
        [
          "label": .string(OneLine.shown(title)), "kind": JSONValue(Self.kindReference),
          "textEdit": ["range": range.json, "newText": .string(title + "]]")], "filterText": .string(title),
        ]
      }, isIncomplete: found.count > Self.maximumItems)
  }

  struct Result: RequestResult {
    let items: [JSONValue]
    /// Whether more were found than are listed.
    let isIncomplete: Bool

    var json: JSONValue { ["isIncomplete": .bool(isIncomplete), "items": .array(items)] }
  }
}

/// `textDocument/rename`: gives the note that a link leads to another title, elsewhere the buffer's own, and changes every link
/// to it. The answer has the edits of this client's buffers; other notes are changed here.
struct RenameLinksRequest: EditorRequest {
  static let method = "textDocument/rename"

  let place: DocumentPosition
  let title: String

  init(_ params: Parameters) throws(ResponseError) {
    place = try DocumentPosition(params)
    title = try params.title("newName")
    if title.contains(where: { "[]|#".contains($0) }) {
      throw params.invalid("newName", "must not contain [, ], | or #: no link could name it")
    }
  }

  func perform(for editor: Editor) async throws -> Result {
    let (links, service) = (NoteLinks(editor: editor), editor.service)
    guard let old = links.title(at: place) else { throw NotesError.notANote }
    guard let record = links.note(titled: old) else { throw NotesError(.notFound, "There is no note \"\(old)\".") }
    let renamed = try await service.rename(record, to: title)
    var changes: [String: [JSONValue]] = [:]
    for (part, text, found) in await links.linking(to: old) where service.mayWrite(part.id) {
      if let binding = editor.buffers.binding(at: part.key) {
        changes[binding.uri] = links.places(of: found, in: text, uri: binding.uri).map {
          ["range": $0.range.json, "newText": .string(renamed.title)]
        }
      } else {
        try await change(part, to: renamed.title, from: old, links, service)
      }
    }
    return Result(changes: changes)
  }

  /// Changes the links of a note that no client has open here.
  private func change(
    _ part: NoteRecord, to new: String, from old: String, _ links: NoteLinks, _ service: Service
  ) async throws {
    let handle = try await service.fetch(part.id)
    guard let note = NoteDocument(handle.document, item: part.item) else { return }
    let text = DocumentText(note).allUTF8
    var starts = [0]
    for (offset, byte) in text.enumerated() where byte == 0x0A { starts.append(offset + 1) }
    // Replace from the end, so that earlier positions stay valid.
    let splices = links.links(to: old, in: text).reversed().map { line, link in
      TextSplice(
        utf8Offset: starts[line] + link.part.lowerBound, deleteUTF8: link.part.count, insert: Array(new.utf8))
    }
    guard !splices.isEmpty else { return }
    try handle.change(message: "links to \(new)") { _ in try note.make(splices) }
    service.notebook.update(part.key) { $0.modified = service.clock.date }
    service.fileSync.meetings.examineAll(of: part.id)
    try await service.fileSync.synchronize(handle)
  }

  struct Result: RequestResult {
    let changes: [String: [JSONValue]]

    var json: JSONValue {
      ["changes": .object(JSONObject(changes.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value)) }))]
    }
  }
}
