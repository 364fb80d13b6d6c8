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

  func perform(for editor: Editor) async throws -> SaidResult {
    let sharing = editor.service.sharing
    let peer = try sharing.peerOrBlocked(named: peer)
    let shown = OneLine.shown(sharing.name(of: peer))
    try await sharing.trust(peer, name: name, state)
    switch state {
    case .trusted: return SaidResult("You trust \(shown)")
    case .blocked: return SaidResult("Blocked \(shown)")
    case .forgotten: return SaidResult("Forgot \(shown)")
    }
  }
}
