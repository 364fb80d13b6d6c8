import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/remove`: removes a guest from a note: by revoking their access, or permanently, so that the others continue
/// in a new document.
struct RemoveRequest: SharedNoteRequest {
  static let method = "notes/remove"

  let note: NoteReference
  let peer: String
  /// Whether the others continue in a new document.
  let movesOn: Bool
  /// Whether only to check that this is possible; the editor then asks the person.
  let onlyChecks: Bool

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    peer = try params.string("peer")
    movesOn = try params.boolIfPresent("moveOn") ?? false
    onlyChecks = try params.boolIfPresent("check") ?? false
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let record = try editor.note(note)
    let peer = try service.sharing.peer(named: peer)
    if let host = service.sharing.host(of: record.id) {
      let name = peer == host.peer ? "leave it with unshare" : "ask them to remove others"
      throw NotesError(.refused, "\(host.name) shares this note with you; \(name).")
    }
    guard let person = service.sharing.people(on: record.id).first(where: { $0.peer == peer }) else {
      throw NotesError.notShared(with: service.sharing.name(of: peer))
    }
    guard !onlyChecks else { return Result(id: record.id, name: person.name) }
    guard movesOn else {
      try await service.sharing.unshare(record.id, from: peer)
      service.presenceTracker.unshared(record.id, by: peer)
      return Result(id: record.id, name: person.name)
    }
    let old = try await service.fetch(record.id)
    try await old.flush()
    // Nothing is awaited from here until the new document is in place, so that no word is lost between the two.
    let new = try service.makeSuccessor(of: old)
    let heads = new.document.heads()
    try await service.sharing.move(old.id, to: new.id, heads: heads, without: peer)
    try await service.mover.move(old, to: new)
    editor.news.removed(peer, person.name, from: old.id, to: new.id)
    return Result(id: new.id, name: person.name)
  }

  struct Result: RequestResult {
    /// The document in which the note continues.
    let id: DocumentId
    let name: String

    var json: JSONValue { ["id": .string(id.description), "name": .string(name)] }
  }
}
