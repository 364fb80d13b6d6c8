import AutomergeRepo
import JSONRPC

/// `notes/invite`: invites a person nearby to a note. Answered when the other side has the invitation.
struct InviteRequest: SharedNoteRequest {
  static let method = "notes/invite"

  let note: NoteReference
  let peer: String
  let access: Access

  init(_ params: Parameters) throws(ResponseError) {
    access = try params.grantedAccess("access")
    peer = try params.string("peer")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let peer = try service.sharing.peer(named: peer)
    let record = try await editor.noteOrAdopted(note)
    _ = try await service.fetch(record.id)
    let code = try await service.sharing.invite(
      peer, to: record.id, title: record.title, access: service.sharing.grantable(access, to: record.id))
    return Result(code: code)
  }

  struct Result: RequestResult {
    /// Six digits for both people to compare, if they meet for the first time.
    let code: String?

    var json: JSONValue {
      .object(present: [
        "state": .string(PeerSummary.State.invitationPending.rawValue), "code": code.map(JSONValue.string),
      ])
    }
  }
}
