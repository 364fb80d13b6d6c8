import AutomergeRepo
import JSONRPC

/// `notes/items`: a meeting's agenda; with a `width`, as lines for a screen.
struct ItemsRequest: EditorRequest {
  static let method = "notes/items"

  let meeting: NoteReference

  /// The width of the screen, if lines are wanted.
  let width: Int?
  /// Whether the person opens the list, and so sees its news.
  let opens: Bool

  init(_ params: Parameters) throws(ResponseError) {
    width = try params.widthIfPresent()
    opens = try params.boolIfPresent("opens") ?? false
    meeting = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let record = try editor.note(meeting)
    if let width, record.deletedSince != nil {
      let screen = ScreenAnswer(AgendaScreen(service: editor.service).table(ofDeleted: record, width: width))
      return Result(id: record.id, title: record.title, attendees: [], items: [], screen: screen)
    }
    let meeting = try await MeetingEditor(editor, of: meeting)
    let document = MeetingDocument(meeting.handle.document)
    let (attendees, items) = (document?.attendees ?? [], meeting.items)
    let screen = width.flatMap { width in
      editor.service.notebook[meeting.handle.id].map { record in
        let news = editor.agendaNews.marks(in: meeting.handle, opens: opens)
        return AgendaScreen(service: editor.service)
          .table(of: record, items, news, attendees: attendees, width: width)
      }
    }
    return Result(
      id: meeting.handle.id, title: document?.title ?? "", attendees: attendees, items: items,
      screen: screen.map(ScreenAnswer.init))
  }

  struct Result: RequestResult {
    let id: DocumentId
    let title: String
    let attendees: [String]
    let items: [ItemPlace]
    let screen: ScreenAnswer?

    var json: JSONValue { get throws { try screen?.json ?? agenda } }

    private var agenda: JSONValue {
      [
        "id": .string(id.description), "title": .string(title), "attendees": JSONValue(attendees),
        "items": .array(items.map(\.json)),
      ]
    }
  }
}
