import AutomergeRepo
import JSONRPC

/// `notes/status`: what is stored, which peers have it, and what this person may do; of a note, or of the whole service.
struct StatusRequest: EditorRequest {
  static let method = "notes/status"

  let uri: String?

  init(_ params: Parameters) throws(ResponseError) { uri = try params.stringIfPresent("uri") }

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
    case .plain, nil: return Result(json: ServiceStatus(editor.service).json)
    }
  }

  /// A `NoteStatus` or a `ServiceStatus`.
  struct Result: RequestResult {
    let json: JSONValue
  }
}
