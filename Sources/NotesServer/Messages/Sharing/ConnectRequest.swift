import AutomergeRepo
import JSONRPC

/// `notes/connect`: connects to a peer by its address.
struct ConnectRequest: NetworkRequest {
  static let method = "notes/connect"

  let address: String

  init(_ params: Parameters) throws(ResponseError) { address = try params.string("address") }

  func perform(for editor: Editor) async throws -> Result {
    Result(peer: try await editor.service.sharing.connect(address: address))
  }

  struct Result: RequestResult {
    let peer: PeerId

    var json: JSONValue { ["peer": .string(peer.description)] }
  }
}

/// `notes/disconnect`: ends the connection to a peer.
struct DisconnectRequest: NetworkRequest {
  static let method = "notes/disconnect"

  let peer: PeerId

  init(_ params: Parameters) throws(ResponseError) { peer = PeerId(try params.string("peer")) }

  func perform(for editor: Editor) async throws -> NoResult {
    editor.service.sharing.disconnect(peer)
    return NoResult()
  }
}
