import JSONRPC
import NotesServer

/// What commands need from a session before their own request.
extension Session {
  /// The note with this id or title, as `notes/list` returns it.
  ///
  /// - Parameter deleted: whether to look among the deleted notes that can be restored
  func note(named text: String, deleted: Bool = false) async throws -> JSONValue {
    let name = NoteName(text)
    let notes = try await perform("notes/list", ["deleted": .bool(deleted)])["notes"]?.arrayValue ?? []
    let found = name.matches(in: notes, id: { $0["id"]?.stringValue }, title: { $0["title"]?.stringValue })
    guard found.count <= 1 else {
      throw Failure(message: name.ambiguity(found.compactMap { $0["id"]?.stringValue }))
    }
    if let note = found.first { return note }
    guard deleted else {
      throw Failure(message: "There is no note \"\(text)\"; \"notes-lsp list\" shows what is there.")
    }
    let isThere = (try? await note(named: text)) != nil
    throw Failure(
      message: isThere
        ? "\"\(text)\" is not deleted; \"notes-lsp rm\" deletes it."
        : "There is no deleted note \"\(text)\"; \"notes-lsp list --deleted\" shows what is there.")
  }

  /// Throws if no editor of this person has a note open, so that no process has the network.
  func requireService() throws {
    guard !isServiceRunning else { return }
    throw Failure(message: "The network is not available: it needs an editor with a note open.")
  }

  func id(of name: String, deleted: Bool = false) async throws -> JSONValue {
    try await note(named: name, deleted: deleted)["id"] ?? .null
  }

  /// The same. First merges what other programs have written to the note's file, as opening the note does.
  func currentId(of name: String) async throws -> JSONValue {
    let id = try await id(of: name)
    _ = try await perform("notes/open", ["id": id])
    return id
  }
}
