import AutomergeRepo
import JSONRPC

/// `notes/open`: makes sure that a note is here and has its working file, which the editor then opens.
struct OpenRequest: EditorRequest {
  static let method = "notes/open"

  enum Target {
    case id(DocumentId)
    case title(String)
  }

  let target: Target
  /// One item of a meeting.
  let item: String?
  /// The text of a document made elsewhere that is to be the note.
  private let text: TextChoice.Name?

  init(_ params: Parameters) throws(ResponseError) {
    let url = try params.documentURLIfPresent("url")
    text = try params.textName() ?? url.flatMap { $0.path.isEmpty ? nil : .names($0.path) }
    if let url {
      target = .id(url.documentId)
    } else if let id = try params.documentIdIfPresent("id") {
      target = .id(id)
    } else {
      target = .title(try params.string("title"))
    }
    item = try params.stringIfPresent("item")
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let service = editor.service
    let opener = NoteOpener(service: service)
    let id = try id(in: service.notebook)
    if let text { try await TextChoice(service: service, name: text).settle(try await service.fetch(id)) }
    let record = try await opener.open(id)
    guard let item else { return NotePlace(record, service) }
    return NotePlace(try await opener.openItem(item, of: try await service.fetch(id)), service)
  }

  private func id(in notebook: Notebook) throws(NotesError) -> DocumentId {
    switch target {
    case .id(let id): return notebook.latest(id)
    case .title(let title):
      let name = NoteName(title)
      let found = name.matches(in: notebook.byModification, id: { _ in nil }, title: \.title)
      guard found.count <= 1 else { throw NotesError(.conflict, name.ambiguity(found.map(\.id.description))) }
      guard let record = found.first else { throw NotesError(.notFound, "There is no note \"\(title)\".") }
      return record.id
    }
  }
}
