import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/open`: ensures that a note is here and has its working file, which the editor then opens.
struct OpenRequest: EditorRequest {
  static let method = "notes/open"

  enum Target {
    case id(DocumentId)
    case title(String)
    /// A document file, by its absolute path.
    case file(String)
    /// The note that a person has open; any person's if the name is empty.
    case person(String)
  }

  let target: Target
  /// One item of a meeting.
  let item: String?
  /// The name of the person whose item of a meeting is wanted.
  private let near: String?
  /// Whether to make a document file that does not exist yet, with a new meeting named after it.
  private let isToBeMade: Bool
  /// The text that becomes the note, if the document was made elsewhere.
  private let text: TextChoice.Name?

  init(_ params: Parameters) throws(ResponseError) {
    let url = try params.documentURLIfPresent("url")
    text = try params.textName() ?? url.flatMap { $0.path.isEmpty ? nil : .names($0.path) }
    if let url {
      target = .id(url.documentId)
    } else if let id = try params.documentIdIfPresent("id") {
      target = .id(id)
    } else if params.has("path") {
      target = .file(try params.absolutePath("path"))
    } else if params.has("near") {
      target = .person(try params.string("near"))
    } else {
      target = .title(try params.string("title"))
    }
    item = try params.stringIfPresent("item")
    near = try params.stringIfPresent("near")
    isToBeMade = try params.boolIfPresent("create") ?? false
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let service = editor.service
    if case .person(let name) = target { return try await open(near: name, editor) }
    let opener = NoteOpener(service: service)
    let id = try await id(service)
    if let text { try await TextChoice(service: service, name: text).settle(try await service.fetch(id)) }
    let record = try await opener.open(id)
    if case .file(let path) = target {
      try await service.documentFiles.link(path, to: try await service.fetch(record.id))
    }
    var item = item
    if item == nil { item = try await itemNear(id, service) }
    guard let item else { return NotePlace(record, service) }
    return NotePlace(try await opener.openItem(item, of: try await service.fetch(id)), service)
  }

  /// Opens the note, changed last, in which the person is.
  private func open(near name: String, _ editor: Editor) async throws -> NotePlace {
    let service = editor.service
    for record in service.notebook.byModification {
      let here = service.presenceTracker.people(in: record.id).map(\.name)
      guard let found = here.first(where: { name.isEmpty || $0.lowercased() == name.lowercased() }) else { continue }
      let params: JSONValue = ["id": .string(record.id.description), "near": .string(found)]
      var place = try await OpenRequest(Parameters(params)).perform(for: editor)
      place.near = found
      return place
    }
    let who = OneLine.shown(NoteNews.cut(name, to: 29))
    throw NotesError(.notFound, name.isEmpty ? "No one else is in a note" : "\(who) is not in any of your notes")
  }

  /// The item in which the person's caret is; nil if it is in none, or the document is not a meeting.
  private func itemNear(_ id: DocumentId, _ service: Service) async throws -> String? {
    guard let near, let text = service.presenceTracker.text(of: near, in: id) else { return nil }
    let items = MeetingDocument(try await service.fetch(id).document)?.items ?? []
    return items.first { $0.discussion?.description == text }?.id
  }

  /// A new meeting, named after its file.
  private func meeting(ofFile name: String, _ service: Service) async throws -> DocumentId {
    let title = (name as NSString).deletingPathExtension
    return try await NoteMaker(service: service)
      .meeting(MeetingContent(title: title, attendees: [], agendas: [])).id
  }

  private func id(_ service: Service) async throws -> DocumentId {
    let notebook = service.notebook
    switch target {
    case .id(let id): return notebook.latest(id)
    case .person(let name): throw NotesError(.notFound, "There is no note with \(name).")
    case .file(let path):
      // The document is here; opening it again also makes the file again if that was removed.
      if let known = notebook.document(inFile: path), notebook[known]?.deletedSince == nil { return known }
      let name = (path as NSString).lastPathComponent
      guard let bytes = try await service.files.read(path) else {
        if isToBeMade { return try await meeting(ofFile: name, service) }
        throw NotesError(.notFound, "There is no file \(name).")
      }
      guard case .document(let file, let id) = try await ImportedFile.read(bytes) else {
        throw NotesError(.notANote, "\(name) is not an Automerge document; import it instead.")
      }
      let known = id.map { notebook.latest($0) }
      return try await ImportRequest(path: path, text: text).take(file, id: known, service).place.id
    case .title(let title):
      let name = NoteName(title)
      let found = name.matches(in: notebook.byModification, id: { _ in nil }, title: \.title)
      guard found.count <= 1 else { throw NotesError(.conflict, name.ambiguity(found.map(\.id.description))) }
      guard let record = found.first else { throw NotesError(.notFound, "There is no note \"\(title)\".") }
      return record.id
    }
  }
}
