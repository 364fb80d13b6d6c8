import AutomergeRepo
import JSONRPC

/// `notes/purge`: removes a deleted note permanently. Other people keep their copies.
struct PurgeRequest: EditorRequest {
  static let method = "notes/purge"

  let id: DocumentId

  init(_ params: Parameters) throws(ResponseError) { id = try params.documentId("id") }

  func perform(for editor: Editor) async throws -> NoResult {
    let service = editor.service
    guard let record = service.notebook[id] else { throw NotesError(.notFound, "There is no note \(id).") }
    guard record.deletedSince != nil else {
      throw NotesError(.conflict, "\"\(record.title)\" is not deleted; only a deleted note can be removed for good.")
    }
    await endSharing(editor)
    try await service.environment.purge(id)
    // The buffers that stayed when the note was deleted say that it can be restored.
    let event = NoteNews.detached(.purged).parameters(uri: nil, id: id, title: record.title, peer: nil, name: nil)
    service.siblings.events.tell(event)
    if editor.client.speaksNotes { editor.deliver(event) }
    return NoResult()
  }

  /// Ends the sharing of the note: guests keep their copies, and a host learns that its guest has left.
  private func endSharing(_ editor: Editor) async {
    let sharing = editor.service.sharing
    let isShared = sharing.host(of: id) != nil || !sharing.people(on: id).isEmpty
    do {
      let params = Parameters(["id": .string(id.description)])
      if try await editor.forward(try UnshareRequest(params), params) == nil {
        try await editor.service.sharing.unshare(id, from: nil)
      }
    } catch {
      guard isShared else { return }
      let reason = ResponseError(replyingTo: error).message
      editor.log.notice("The people of the note \(id) do not know yet that you removed it: \(reason)")
    }
  }
}
