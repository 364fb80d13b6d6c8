import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/publish`: publishes a note on a server. Every person with read access there can join it by its URL; the ticket also
/// names the server.
struct PublishRequest: SharedNoteRequest {
  static let method = "notes/publish"
  static let adoptsFiles = true

  let note: NoteReference
  let server: PeerId

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    server = PeerId(try params.string("url"))
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let record = try await editor.noteOrAdopted(note)
    // Whatever the server sends would count as this person's own.
    try service.checkMayWrite(record.id)
    _ = try await service.fetch(record.id)
    return Result(id: record.id, server: try await service.sharing.publish(record.id, on: server))
  }

  struct Result: RequestResult {
    let id: DocumentId
    let server: ServerConnection

    var json: JSONValue {
      let url = "automerge:\(id)"
      let ticket = "\(server.peer)#\(url)"
      return .object(present: [
        "id": .string(id.description), "url": .string(url), "ticket": .string(ticket),
        "base64": .string(Data(ticket.utf8).base64EncodedString()), "state": .string(server.state),
        "message": server.isConnected ? nil : .string("Not published yet: \(server.problem ?? "no answer")"),
      ])
    }
  }
}
