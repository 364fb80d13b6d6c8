import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/textAt`: the text of a note at an earlier time.
struct TextAtRequest: EditorRequest {
  static let method = "notes/textAt"

  let note: NoteReference
  let heads: Set<ChangeHash>

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    heads = try params.heads("heads")
  }

  func perform(for editor: Editor) async throws -> Result {
    let past = try await PastNote(note, editor)
    return Result(text: try past.document.textAt(obj: past.note.content, heads: try past.known(heads)))
  }

  struct Result: RequestResult {
    let text: String

    var json: JSONValue { ["text": .string(text)] }
  }
}
