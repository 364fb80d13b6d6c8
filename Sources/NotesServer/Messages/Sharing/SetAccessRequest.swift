import AutomergeRepo
import JSONRPC

/// `notes/setAccess`: changes a guest's access to a note that the guest has from this person.
struct SetAccessRequest: SharedNoteRequest {
  static let method = "notes/setAccess"

  private enum Choice: String, CaseIterable { case write, read, none }

  let note: NoteReference
  let peer: String
  let access: Access

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    peer = try params.string("peer")
    switch try params.choice("access", as: Choice.self) {
    case .write: access = .write
    case .read: access = .read
    case .none: access = .none
    }
  }

  func perform(for editor: Editor) async throws -> SaidResult {
    let sharing = editor.service.sharing
    let record = try editor.note(note)
    let peer = try sharing.peer(named: peer)
    if let host = sharing.host(of: record.id), host.peer == peer {
      throw NotesError(.refused, "\(host.name) shares this note with you; unshare it to leave.")
    }
    let hadTicket = sharing.hasTicket(for: record.id)
    guard try await sharing.setAccess(access, to: record.id, for: peer) else {
      throw NotesError.notShared(with: sharing.name(of: peer))
    }
    if access == .none { editor.service.presenceTracker.unshared(record.id, by: peer) }
    let name = OneLine.shown(sharing.name(of: peer))
    guard access == .none else { return SaidResult("\(name) can \(access == .write ? "edit" : "read") this note") }
    let words = "\(NoteNews.cut(name, to: 16)) keeps a copy but gets no more changes"
    guard hadTicket else { return SaidResult(words) }
    editor.service.environment.events.send(.ticketsRevoked(record.id))
    return SaidResult(words + "; tickets revoked")
  }
}

extension NotesError {
  /// There is nothing to change: the note is not shared with this peer, or with any peer.
  static func notShared(with name: String?) -> NotesError {
    NotesError(
      .notFound,
      name.map { "You do not share this note with \(NoteNews.cut($0, to: 24))." } ?? "This note is not shared.")
  }
}
