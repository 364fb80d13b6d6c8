import AutomergeRepo
import JSONRPC

/// The requests that are no types yet.
extension Editor {
  typealias Handler = @AutomergeRepo (Editor, Parameters) async throws -> JSONValue

  static let handlers: [String: Handler] = [
    "notes/create": { try await $0.create($1) },
    "notes/adopt": { try await $0.adopt($1) },
    "notes/open": { try await $0.openNote($1) },
    "notes/rename": { try await $0.rename($1) },
    "notes/delete": { try await $0.delete($1) },
    "notes/undelete": { try await $0.undelete($1) },
    "notes/purge": { try await $0.purge($1) },
    "notes/recovered": { try await $0.recovered($1) },
    "notes/export": { try await $0.export($1) },
    "notes/import": { try await $0.import($1) },
    "notes/merge": { try await $0.merge($1) },
    "notes/items": { try await $0.items($1) },
    "notes/addItem": { try await $0.addItem($1) },
    "notes/moveItem": { try await $0.moveItem($1) },
    "notes/share": { try await $0.share($1) },
    "notes/unshare": { try await $0.unshare($1) },
    "notes/join": { try await $0.join($1) },
    "notes/peers": { try $0.peers($1) },
    "notes/people": { try await $0.people($1) },
    "notes/setAccess": { try await $0.setAccess($1) },
    "notes/remove": { try await $0.remove($1) },
    "notes/copy": { try await $0.copy($1) },
    "notes/verify": { try $0.verify($1) },
    "notes/invite": { try await $0.invite($1) },
    "notes/invitations": { try $0.invitations($1) },
    "notes/answer": { try await $0.answer($1) },
    "notes/trust": { try await $0.trust($1) },
    "notes/connect": { try await $0.connect($1) },
    "notes/disconnect": { try $0.disconnect($1) },
    "notes/setName": { try await $0.setName($1) },
  ]

  /// The requests that need the network, which one process of a person has.
  static let networkMethods: Set<String> = [
    "notes/share", "notes/unshare", "notes/join", "notes/peers", "notes/invite", "notes/invitations", "notes/answer",
    "notes/verify", "notes/trust", "notes/connect", "notes/disconnect", "notes/people", "notes/setAccess",
    "notes/remove",
  ]

  /// Has the process with the network carry out a request; nil if there is none.
  func legacyForward(_ method: String, _ params: Parameters) async throws -> JSONValue? {
    guard Self.networkMethods.contains(method), service.sharing.asksSiblings else { return nil }
    // This process may have started a moment ago.
    await service.siblingsAreThere()
    guard service.sharing.asksSiblings, !service.repo.siblings.isEmpty else { return nil }
    var members = params.value.objectValue ?? JSONObject()
    if params.has("uri") || params.has("id"), !params.has("ticket"), method != "notes/join" {
      let record: NoteRecord
      if let known = try target(params) {
        record = known
      } else if method == "notes/share" {
        record = try await adopt(uri: try params.string("uri"))
      } else {
        throw NotesError(.notANote, "This is not a note.")
      }
      // The other process reads it from the store.
      try await find(record.id).flush()
      try await service.notebook.save(record.id, withBase: false)
      members["uri"] = nil
      members["id"] = .string(record.id.description)
    }
    guard let answer = await service.siblingRequests.ask(method, .object(members)) else { return nil }
    let result = try answer.get()
    if let id = result["id"]?.stringValue.flatMap({ DocumentId($0) }) {
      try await service.notebook.refresh(id)
      await service.learnAccess(to: id, saidToBe: result["access"]?.stringValue.flatMap(Access.init))
    }
    return result
  }
}
