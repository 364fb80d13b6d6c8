import Automerge
import AutomergeRepo
import JSONRPC

/// Removes a guest from a note: by revoking their access, or for good, so that the others go on in a new document.
extension Editor {
  func remove(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let peer = try peer(params)
    if let host = service.sharing.host(of: record.id) {
      let name = peer == host.peer ? "leave it with unshare" : "ask them to remove others"
      throw NotesError(.refused, "\(host.name) shares this note with you; \(name).")
    }
    guard let person = service.sharing.people(on: record.id).first(where: { $0.peer == peer }) else {
      throw NotesError(.notFound, "Not shared with this person by you.")
    }
    guard try params.boolIfPresent("moveOn") ?? false else {
      try await service.sharing.unshare(record.id, from: peer)
      return ["id": .string(record.id.description), "name": .string(person.name)]
    }
    let old = try await find(record.id)
    try await old.flush()
    // From here to the new document nothing is awaited, so that no word is lost between the two.
    let new = try service.makeSuccessor(of: old)
    let heads = new.document.heads()
    try await service.sharing.move(old.id, to: new.id, heads: heads, without: peer)
    try await service.mover.move(old, to: new)
    news.tellOfMove(from: old.id, to: new.id, peer: peer, name: person.name, isOwn: true)
    return ["id": .string(new.id.description), "name": .string(person.name)]
  }
}

extension Service {
  /// A separate document with all changes of another, in which this process writes as a new author.
  func makeSuccessor(of old: DocHandle) throws -> DocHandle {
    let handle = try repo.create(old.document.fork())
    handle.adoptSignatures(of: old)
    handle.document.actor = newActor()
    return handle
  }

  /// The undo history of a document's open buffers, which the store may not have yet.
  func undoItems(of id: DocumentId) -> [StoredItem] {
    (repo.handle(of: id)?.companions?() ?? []).compactMap { change in
      guard case .save(let item) = change, item.key.first == UndoRecord.collection else { return nil }
      return item
    }
  }
}
