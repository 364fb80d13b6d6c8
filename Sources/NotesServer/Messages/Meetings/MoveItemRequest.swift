import AutomergeRepo
import JSONRPC

/// `notes/moveItem`: moves an item of a meeting to another place in the agenda.
struct MoveItemRequest: EditorRequest {
  static let method = "notes/moveItem"

  let item: NoteReference
  let position: Int

  init(_ params: Parameters) throws(ResponseError) {
    position = try params.nonNegativeInt("position")
    item = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    guard let record = try editor.record(of: item), let id = record.item else {
      throw NotesError(.notANote, "This is not an agenda item.")
    }
    let meeting = MeetingEditor(editor, try await editor.service.fetch(record.id))
    try await meeting.move(id, to: position)
    return Result(items: meeting.items)
  }

  struct Result: RequestResult {
    let items: [ItemPlace]

    private var message: String { "Agenda: " + items.map { OneLine.shown($0.title) }.joined(separator: ", ") }

    var json: JSONValue {
      ["items": .array(items.map(\.json)), "message": .string(message)]
    }
  }
}
