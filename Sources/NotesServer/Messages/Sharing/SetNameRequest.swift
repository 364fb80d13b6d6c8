import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/setName`: this person's name from now on, in all their processes.
struct SetNameRequest: EditorRequest {
  static let method = "notes/setName"

  let name: String

  init(_ params: Parameters) throws(ResponseError) {
    name = try params.string("name").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { throw params.invalid("name", "must not be empty") }
  }

  func perform(for editor: Editor) async throws -> NoResult {
    await editor.service.author.nameKeeper.choose(name)
    return NoResult()
  }
}
