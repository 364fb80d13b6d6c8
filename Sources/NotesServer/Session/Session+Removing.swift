import Automerge
import AutomergeRepo
import JSONRPC

/// Removes a guest from a note: by revoking their access, or for good, so that the others go on in a new document.
extension Session {
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
    tellOfMove(from: old.id, to: new.id, peer: peer, name: person.name, isOwn: true)
    return ["id": .string(new.id.description), "name": .string(person.name)]
  }

  /// The host of a note has removed a guest, and this person has followed the host to the new document.
  func followed(_ move: NoteMove) {
    let host = move.host ?? service.repo.peerId
    let name = service.sharing.host(of: move.successor)?.name ?? String(host.description.prefix(8))
    tellOfMove(from: move.document, to: move.successor, peer: host, name: name, isOwn: false)
  }

  private func tellOfMove(from old: DocumentId, to new: DocumentId, peer: PeerId, name: String, isOwn: Bool) {
    let title = service.notebook[new]?.title ?? title(of: new)
    let news = NoteNews.moved(from: old, isOwn ? .removed(name) : .host(name))
    let event = news.parameters(uri: uri(of: new), id: new, title: title, peer: peer, name: name)
    service.siblingEvents.tell(event)
    deliver(event, to: new)
  }

  /// Shows the new document in open buffers of the old one. What the client has not seen of it is sent as an edit.
  func moveBuffers(from old: DocHandle, to new: DocHandle) {
    for attachment in attachments(of: old.id).sorted(by: { $0.uri < $1.uri }) {
      guard let note = NoteDocument(new.document, item: attachment.note.item) else { continue }
      attachment.finishComparing()
      let before = attachment.source.allUTF8
      let (undo, uri) = (attachment.undoGroups, attachment.uri)
      attachment.detach()
      var buffer = attachment.buffer
      buffer.documentChanged(by: TextDiff.delta(from: before, to: DocumentText(note).allUTF8))
      let moved = Attachment(
        uri: uri, handle: new, note: note, buffer: buffer, splices: [], session: self, opened: attachment.opened)
      if moved.undoLoading == nil { moved.undoGroups = undo }
      buffers[uri] = .attached(moved)
      moved.statusChanged()
    }
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
