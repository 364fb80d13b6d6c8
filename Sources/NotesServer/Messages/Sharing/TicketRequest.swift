import AutomergeRepo
import JSONRPC

/// `notes/ticket`: checks that a ticket that this person has made still admits someone, before it is shown again.
struct TicketRequest: SharedNoteRequest {
  static let method = "notes/ticket"

  let note: NoteReference
  let ticket: String

  init(_ params: Parameters) throws(ResponseError) {
    ticket = try params.string("ticket")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> NoResult {
    switch editor.service.sharing.problem(of: ticket) {
    case nil: return NoResult()
    case .ticketExpired: throw NotesError(.ticketExpired, "The ticket has expired. :NotesShare makes a new one")
    case .ticketUsed: throw NotesError(.ticketUsed, "The ticket has been used. :NotesShare makes a new one")
    case .some: throw NotesError(.ticketInvalid, "The ticket is no longer valid. :NotesShare makes a new one")
    }
  }
}
