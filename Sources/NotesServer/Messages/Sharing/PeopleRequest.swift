import AutomergeRepo
import JSONRPC

/// `notes/people`: all people with whom a note is shared, online or not; with a `width`, as lines for a screen, which has those
/// that could be invited, too.
struct PeopleRequest: SharedNoteRequest {
  static let method = "notes/people"

  let note: NoteReference
  /// The width of the screen, if lines are wanted.
  let width: Int?

  init(_ params: Parameters) throws(ResponseError) {
    width = try params.widthIfPresent()
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let record = try editor.note(note)
    let handle = try await editor.service.fetch(record.id)
    if let width {
      return .screen(ScreenAnswer(PeopleScreen(editor.service).table(of: record, handle, width: width)))
    }
    return .people(editor.service.sharing.people(on: record.id).map { PersonStatus($0, on: handle) })
  }

  enum Result: RequestResult {
    case people([PersonStatus])
    case screen(ScreenAnswer)

    var json: JSONValue {
      get throws {
        switch self {
        case .people(let people): ["people": .array(people.map { $0.json(withAccess: true) })]
        case .screen(let answer): try answer.json
        }
      }
    }
  }
}
