import AutomergeRepo
import JSONRPC

/// `notes/tutorial`: makes a note for learning by doing, in which a robot types.
struct TutorialRequest: EditorRequest {
  static let method = "notes/tutorial"

  let keys: Tutorial.Keys

  init(_ params: Parameters) throws(ResponseError) {
    keys = try params.choiceIfPresent("keys", as: Tutorial.Keys.self) ?? .vim
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    NotePlace(try await editor.tutor.begin(keys), editor.service)
  }
}
