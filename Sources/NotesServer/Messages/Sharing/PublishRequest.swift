import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/publish`: publishes a note on a server. Every person with read access there can join it by its URL; the ticket also
/// names the server.
struct PublishRequest: SharedNoteRequest {
  static let method = "notes/publish"
  static let adoptsFiles = true
  /// How long a connected server's answer is awaited.
  private static let maximumWait: Duration = .seconds(2)

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
    let handle = try await service.fetch(record.id)
    let connection = try await service.sharing.publish(record.id, on: server)
    if connection.isConnected { await answer(of: connection.peer, on: handle, by: service.clock) }
    return Result(id: record.id, server: connection, isRefused: handle.limits(of: connection.peer).isLacking)
  }

  /// Returns when the server has the note or does not take it, or after `maximumWait`.
  private func answer(of peer: PeerId, on handle: DocHandle, by clock: any RepoClock) async {
    let isAnswered = { @AutomergeRepo in handle.inSync(with: peer) || handle.limits(of: peer).isLacking }
    guard !isAnswered() else { return }
    var observation: Observation?
    await OneReply<Void>.wait(otherwise: ()) { reply in
      observation = handle.observe { _ in if isAnswered() { reply.resume(returning: ()) } }
      clock.schedule(after: Self.maximumWait) { reply.resume(returning: ()) }
    }
    observation?.cancel()
  }

  struct Result: RequestResult {
    let id: DocumentId
    let server: ServerConnection
    let isRefused: Bool

    private var problem: String? {
      if isRefused { return "Not published: the server does not accept this note" }
      return server.isConnected ? nil : "Not published yet: \(server.problem ?? "no answer")"
    }

    var json: JSONValue {
      let url = "automerge:\(id)"
      let ticket = "\(server.peer)#\(url)"
      return .object(present: [
        "id": .string(id.description), "url": .string(url), "ticket": .string(ticket),
        "base64": .string(Data(ticket.utf8).base64EncodedString()), "state": .string(server.state),
        "message": problem.map(JSONValue.string),
      ])
    }
  }
}
