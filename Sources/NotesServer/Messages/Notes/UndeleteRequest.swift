import AutomergeRepo
import JSONRPC

/// `notes/undelete`: restores a deleted note.
struct UndeleteRequest: EditorRequest {
  static let method = "notes/undelete"

  let id: DocumentId

  init(_ params: Parameters) throws(ResponseError) { id = try params.documentId("id") }

  func perform(for editor: Editor) async throws -> NotePlace {
    let service = editor.service
    guard service.notebook[id]?.deletedSince != nil else {
      throw NotesError(.notFound, "There is no deleted note \(id).")
    }
    let handle = try await service.fetch(id)
    let opener = NoteOpener(service: service)
    try opener.undelete(handle)
    if MeetingDocument(handle.document) != nil, NoteDocument(handle.document) == nil {
      return NotePlace(try await opener.openMeeting(handle), service)
    }
    let title = service.notebook[id]?.title ?? NoteDocument(handle.document)?.title ?? FileName.untitled
    let record = try await service.makeWorkingFile(for: handle, title: title, directory: service.notesDirectory)
    return NotePlace(record, service)
  }
}
