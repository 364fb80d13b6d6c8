import AutomergeRepo
import JSONRPC

/// `notes/items`: a meeting's agenda.
struct ItemsRequest: EditorRequest {
  static let method = "notes/items"

  let meeting: NoteReference

  init(_ params: Parameters) throws(ResponseError) { meeting = try NoteReference(params) }

  func perform(for editor: Editor) async throws -> Result {
    let meeting = try await MeetingEditor(editor, of: meeting)
    let document = MeetingDocument(meeting.handle.document)
    return Result(
      id: meeting.handle.id, title: document?.title ?? "", attendees: document?.attendees ?? [], items: meeting.items)
  }

  struct Result: RequestResult {
    let id: DocumentId
    let title: String
    let attendees: [String]
    let items: [ItemPlace]

    var json: JSONValue {
      [
        "id": .string(id.description), "title": .string(title), "attendees": JSONValue(attendees),
        "items": .array(items.map(\.json)),
      ]
    }
  }
}
