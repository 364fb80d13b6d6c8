import AutomergeRepo
import JSONRPC

/// `notes/unshare`: ends the sharing of a note, with one person or with all; leaves a note that another person shares.
struct UnshareRequest: SharedNoteRequest {
  static let method = "notes/unshare"

  let note: NoteReference
  let peer: String?

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    peer = try params.stringIfPresent("peer")
  }

  func perform(for editor: Editor) async throws -> SaidResult {
    let sharing = editor.service.sharing
    let record = try editor.note(note)
    let peer = try peer.map { name throws(NotesError) in try sharing.peer(named: name) }
    let tracker = editor.service.presenceTracker
    // Before the connections end: otherwise the editor would say that each peer has closed the note.
    let left = sharing.people(on: record.id).filter { $0.peer != peer }
    if let peer, peer != sharing.host(of: record.id)?.peer, !left.isEmpty {
      tracker.unshared(record.id, by: peer)
    } else {
      tracker.sharingEnds(on: record.id)
    }
    let hadTicket = sharing.hasTicket(for: record.id)
    let wasShared = try await sharing.unshare(record.id, from: peer)
    guard wasShared else { throw NotesError.notShared(with: peer.map { sharing.name(of: $0) }) }
    editor.service.environment.events.send(.ticketsRevoked(record.id))
    guard let peer else { return SaidResult("No longer shared") }
    let name = NoteNews.cut(OneLine.shown(sharing.name(of: peer)), to: 20)
    return SaidResult("No longer shared with \(name)\(hadTicket ? "; its tickets no longer work" : "")")
  }
}
