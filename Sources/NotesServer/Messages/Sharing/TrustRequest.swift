import AutomergeRepo
import JSONRPC

/// `notes/trust`: this person's decision about a peer.
struct TrustRequest: NetworkRequest {
  static let method = "notes/trust"

  let peer: String
  /// The name under which the peer is known from now on.
  let name: String?
  let state: PeerTrust

  init(_ params: Parameters) throws(ResponseError) {
    peer = try params.string("peer")
    name = try params.stringIfPresent("name")
    state = try params.choice("state")
  }

  func perform(for editor: Editor) async throws -> NoResult {
    let sharing = editor.service.sharing
    try await sharing.trust(try sharing.peerOrBlocked(named: peer), name: name, state)
    return NoResult()
  }
}
