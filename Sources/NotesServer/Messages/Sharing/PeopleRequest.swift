import AutomergeRepo
import JSONRPC

/// `notes/people`: all people with whom a note is shared, online or not.
struct PeopleRequest: SharedNoteRequest {
  static let method = "notes/people"

  let note: NoteReference

  init(_ params: Parameters) throws(ResponseError) { note = try NoteReference(params) }

  func perform(for editor: Editor) async throws -> Result {
    let record = try editor.note(note)
    let handle = try await editor.service.fetch(record.id)
    return Result(people: editor.service.sharing.people(on: record.id).map { PersonStatus($0, on: handle) })
  }

  struct Result: RequestResult {
    let people: [PersonStatus]

    var json: JSONValue { ["people": .array(people.map { $0.json(withAccess: true) })] }
  }
}
