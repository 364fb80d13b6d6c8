import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/addItem`: adds an item to a meeting's agenda.
struct AddItemRequest: EditorRequest {
  static let method = "notes/addItem"

  let meeting: NoteReference
  let title: String
  let text: String
  let position: Int

  init(_ params: Parameters) throws(ResponseError) {
    meeting = try NoteReference(params)
    title = try params.title("title")
    text = try params.stringIfPresent("text") ?? ""
    position = try params.nonNegativeIntIfPresent("position") ?? .max
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let meeting = try await MeetingEditor(editor, of: meeting)
    try NotesError.checkIsText(Array(text.utf8))
    let item = MeetingContent.Item(id: UUID().uuidString, title: title, discussion: text)
    try await meeting.insert(item, at: position)
    let record = try await NoteOpener(service: editor.service).openItem(item.id, of: meeting.handle)
    return NotePlace(record, editor.service)
  }
}
