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

  func perform(for editor: Editor) async throws -> NoResult {
    let sharing = editor.service.sharing
    let record = try editor.note(note)
    let peer = try peer.map { name throws(NotesError) in try sharing.peer(named: name) }
    let people = peer.map { [$0] } ?? sharing.people(on: record.id).map(\.peer)
    let wasShared = try await sharing.unshare(record.id, from: peer)
    for person in people { editor.service.presenceTracker.unshared(record.id, by: person) }
    guard wasShared else { throw NotesError.notShared(with: peer.map { sharing.name(of: $0) }) }
    return NoResult()
  }
}
