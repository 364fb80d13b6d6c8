import AutomergeRepo
import JSONRPC

/// `notes/status`: what is stored, which peers have it, and what this person may do; of a note that is open, or of the whole service; with the
/// id of a note, whether just that one is stored.
struct StatusRequest: EditorRequest {
  static let method = "notes/status"

  let uri: String?
  let id: DocumentId?

  init(_ params: Parameters) throws(ResponseError) {
    uri = try params.stringIfPresent("uri")
    id = try params.documentIdIfPresent("id")
  }

  func perform(for editor: Editor) async throws -> Result {
    switch uri.flatMap({ editor.buffers[$0] }) {
    case .attached(let binding): return Result(json: binding.updates.answerStatus())
    case .opening(let opening) where opening.waitsFor != nil:
      return Result(json: NoteStatus(of: opening, editor.service).json)
    case .opening:
      // What the client has sent is not in the document yet.
      var status = ServiceStatus(editor.service)
      status.isStored = false
      return Result(json: status.json)
    case .plain, nil:
      var status = ServiceStatus(editor.service)
      // A document that is not in memory has been stored, if it is here at all.
      if let id {
        status.isStored = editor.service.repo.handle(of: id)?.isStored ?? (editor.service.notebook[id] != nil)
      }
      return Result(json: status.json)
    }
  }

  /// A `NoteStatus` or a `ServiceStatus`.
  struct Result: RequestResult {
    let json: JSONValue
  }
}
