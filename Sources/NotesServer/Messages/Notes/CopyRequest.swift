import AutomergeRepo
import JSONRPC

/// `notes/copy`: makes a new note of this person's own with the text of another one, as the editor shows it.
struct CopyRequest: EditorRequest {
  static let method = "notes/copy"

  let note: NoteReference
  let title: String?
  let directory: String?

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    title = try params.stringIfPresent("title")
    directory = try params.absolutePathIfPresent("directory")
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let service = editor.service
    let record = try editor.note(note)
    let handle = try await service.fetch(record.id)
    guard let note = NoteDocument(handle.document, item: record.item) else {
      throw NotesError(.notANote, "Copy a meeting one item at a time.")
    }
    let text = editor.buffers.binding(at: record.key)?.clientText ?? DocumentText(note).allUTF8
    let copy = try await NoteMaker(service: service).note(
      title: title ?? "\(record.title) copy", text: text, directory: directory)
    return NotePlace(copy, service)
  }
}
