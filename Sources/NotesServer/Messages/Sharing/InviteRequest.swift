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
    let handle = try await service.fetch(record.id)
    if let name = Self.owner(peer, of: record.id, handle, service) {
      throw NotesError(.conflict, NoteNews.fitted(name, " already has ", record.title, ""))
    }
    // An invitation to an item is one to the whole meeting.
    let title = service.notebook[record.id]?.title ?? record.title
    let code = try await service.sharing.invite(
      peer, to: record.id, title: title, access: service.sharing.grantable(access, to: record.id))
    return Result(code: code, name: service.sharing.name(of: peer))
  }

  /// The person's name, if that person has the note already, so that an invitation would have no use; nil if the person
  /// may have lost it, or is away.
  @AutomergeRepo
  private static func owner(_ peer: PeerId, of id: DocumentId, _ handle: DocHandle, _ service: Service) -> String? {
    guard handle.peers.contains(where: { $0.owner == peer }) else { return nil }
    if let host = service.sharing.host(of: id), host.peer == peer { return host.name }
    return service.sharing.people(on: id).first { $0.peer == peer && $0.access != .none }?.name
  }

  struct Result: RequestResult {
    /// Six digits for both people to compare, if they meet for the first time.
    let code: String?
    let name: String

    /// The digits come first, where no name can stand before them.
    private var message: String {
      let name = OneLine.shown(name)
      guard let code else { return "Invited \(name)" }
      return "Code \(InvitationQuestion.spaced(code)): invited \(name). :NotesAnswer to confirm"
    }

    var json: JSONValue {
      .object(present: [
        "state": .string(PeerSummary.State.invitationPending.rawValue), "code": code.map(JSONValue.string),
        "message": .string(message),
      ])
    }
  }
}
