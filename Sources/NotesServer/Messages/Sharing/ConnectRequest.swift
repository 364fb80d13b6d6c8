import AutomergeRepo
import JSONRPC

/// `notes/connect`: connects to a peer by its address, or to a server by its URL. A server is remembered.
struct ConnectRequest: NetworkRequest {
  static let method = "notes/connect"

  enum Target {
    case peer(address: String)
    case server(url: String, token: String?)
  }

  let target: Target

  init(_ params: Parameters) throws(ResponseError) {
    if let url = try params.stringIfPresent("url") {
      let token = try params.stringIfPresent("token")
      target = .server(url: url, token: token.flatMap { $0.isEmpty ? nil : $0 })
    } else {
      target = .peer(address: try params.string("address"))
    }
  }

  func perform(for editor: Editor) async throws -> Result {
    let sharing = editor.service.sharing
    switch target {
    case .peer(let address): return .peer(try await sharing.connect(address: address))
    case .server(let url, let token): return .server(try await sharing.connect(server: url, token: token))
    }
  }

  enum Result: RequestResult {
    case peer(PeerId)
    case server(ServerConnection)

    var json: JSONValue {
      switch self {
      case .peer(let peer): ["peer": .string(peer.description)]
      case .server(let server):
        .object(present: [
          "peer": .string(server.peer.description), "url": .string(server.peer.description),
          "state": .string(server.state), "message": server.problem.map(JSONValue.string),
        ])
      }
    }
  }
}

/// `notes/disconnect`: ends the connection to a peer; forgets a server.
struct DisconnectRequest: NetworkRequest {
  static let method = "notes/disconnect"

  let peer: PeerId?
  let url: String?

  init(_ params: Parameters) throws(ResponseError) {
    url = try params.stringIfPresent("url")
    peer = url == nil ? PeerId(try params.string("peer")) : nil
  }

  func perform(for editor: Editor) async throws -> NoResult {
    if let peer { editor.service.sharing.disconnect(peer) }
    if let url, !(try await editor.service.sharing.forget(server: url)) {
      throw NotesError(.notFound, "There is no connection to \(url).")
    }
    return NoResult()
  }
}
