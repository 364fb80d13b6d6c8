import Automerge
import AutomergeRepo
import JSONRPC

/// `textDocument/rename`: renames the note that a link leads to, or the buffer's own if there is no link, and changes
/// the links to it. The answer contains the edits of this client's buffers; the service changes other notes.
///
/// Links stay as they are in notes with more than `LinkedTitle.maximumCount` of them, and in notes that are shared with
/// people who do not have the renamed one, because they would learn its new title.
struct RenameLinksRequest: EditorRequest {
  static let method = "textDocument/rename"

  let place: DocumentPosition
  let title: String

  init(_ params: Parameters) throws(ResponseError) {
    place = try DocumentPosition(params)
    title = try params.title("newName")
    guard NoteLink.canName(title) else {
      throw params.invalid("newName", "must be short, without [, ], | and #: no link could name it")
    }
  }

  func perform(for editor: Editor) async throws -> Result {
    let (links, service) = (NoteLinks(editor: editor), editor.service)
    let record = try record(links)
    let readers = Self.readers(of: record.id, service)
    let renamed = try await service.rename(record, to: title)
    var (open, left): ([BufferBinding], [NoteRecord]) = ([], [])
    for (part, titles) in await links.linking(to: record.title) where service.mayWrite(part.id) {
      guard titles.count <= LinkedTitle.maximumCount, Self.readers(of: part.id, service).isSubset(of: readers) else {
        left.append(part)
        continue
      }
      if let binding = editor.buffers.binding(at: part.key) {
        open.append(binding)
      } else {
        try await change(part, from: record.title, to: renamed.title, service)
      }
    }
    if !left.isEmpty { tell(left, editor) }
    return Result(changes: open.map { binding in (binding.uri, edits(binding, from: record.title, links.encoding)) })
  }

  /// The note to rename. Another person may have chosen a title that several notes have, so such a title does not say
  /// which is meant.
  private func record(_ links: NoteLinks) throws -> NoteRecord {
    let link = links.link(at: place)
    guard let title = link?.title ?? links.own(at: place)?.title else { throw NotesError.notANote }
    let (named, shown) = (links.notes(titled: title), NoteNews.cut(OneLine.shown(title), to: 32))
    guard named.count <= 1 else {
      throw NotesError(.conflict, "\(named.count) notes are called \"\(shown)\", so its links may mean any of them.")
    }
    guard let record = named.first ?? (link == nil ? links.own(at: place) : nil) else {
      throw NotesError(.notFound, "There is no note \"\(shown)\".")
    }
    return record
  }

  private static func readers(of id: DocumentId, _ service: Service) -> Set<PeerId> {
    Set(service.sharing.people(on: id).map(\.peer))
  }

  private func tell(_ left: [NoteRecord], _ editor: Editor) {
    let names = DisplayWidth.cut(left.map { OneLine.shown($0.title) }.joined(separator: ", "), to: 60)
    editor.notify(
      ShowMessageNotification(
        kind: .warning,
        message: "Links not updated in notes that others read, or that have very many links: \(names)"))
  }

  /// Made as late as possible, because the client continues to type.
  private func edits(_ binding: BufferBinding, from old: String, _ encoding: PositionEncoding) -> [JSONValue] {
    LinkedTitle.all(to: old, in: binding.clientText, encoding).prefix(LinkedTitle.maximumCount).map {
      ["range": $0.range.json, "newText": .string(title)]
    }
  }

  /// Changes the links of a note that no client has open here.
  private func change(_ part: NoteRecord, from old: String, to new: String, _ service: Service) async throws {
    let handle = try await service.fetch(part.id)
    guard let note = NoteDocument(handle.document, item: part.item) else { return }
    let found = LinkedTitle.all(to: old, in: DocumentText(note).allUTF8, .utf8).prefix(LinkedTitle.maximumCount)
    guard !found.isEmpty else { return }
    // From the end, so that earlier ones stay where they were found.
    let splices = found.reversed().map {
      TextSplice(utf8Offset: $0.part.lowerBound, deleteUTF8: $0.part.count, insert: Array(new.utf8))
    }
    try handle.change(message: "links to \(new)") { _ in try note.make(splices) }
    service.notebook.update(part.key) { $0.modified = service.clock.date }
    service.fileSync.meetings.examineAll(of: part.id)
    try await service.fileSync.synchronize(handle)
  }

  struct Result: RequestResult {
    let changes: [(uri: String, edits: [JSONValue])]

    var json: JSONValue {
      ["changes": .object(JSONObject(changes.sorted { $0.uri < $1.uri }.map { ($0.uri, .array($0.edits)) }))]
    }
  }
}
