import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/setName`: this person's name from now on, in all their processes, and whether they are visible on the local
/// network.
struct SetNameRequest: EditorRequest {
  static let method = "notes/setName"

  let name: String
  /// Nil leaves it as it is.
  let isVisible: Bool?

  init(_ params: Parameters) throws(ResponseError) {
    name = try params.string("name").trimmingCharacters(in: .whitespacesAndNewlines)
    isVisible = try params.boolIfPresent("visible")
    guard !name.isEmpty else { throw params.invalid("name", "must not be empty") }
  }

  func perform(for editor: Editor) async throws -> NoResult {
    let service = editor.service
    await service.author.nameKeeper.choose(name, isHidden: isVisible.map { !$0 })
    guard let isVisible else { return NoResult() }
    let path = service.environment.notesDirectory + "/" + Self.fileOfTheSeen
    if isVisible {
      _ = try await service.files.write(path, [], replacing: true)
    } else {
      try await service.files.remove(path)
    }
    return NoResult()
  }

  /// If the notes directory contains this file, an editor starts its service without waiting for a note, because this
  /// person has chosen to be visible on the local network.
  static let fileOfTheSeen = ".seen"
}
