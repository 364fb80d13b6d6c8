import AutomergeRepo
import JSONRPC

extension SharingService {
  /// The peer that a request names: by its id, or by a name that only one peer has.
  func peer(named text: String) throws(NotesError) -> PeerId {
    if let match = peers.first(where: { $0.peer.description == text }) { return match.peer }
    let named = peers(named: text, areBlocked: false)
    guard named.count <= 1 else {
      throw NotesError(.conflict, "There are \(named.count) people called \(text); choose one by its id.")
    }
    guard let match = named.first else { throw NotesError(.notFound, "No peer called \(text) is known or nearby.") }
    return match.peer
  }

  /// The same for a request that may be about a blocked peer: that peer, if no other has the name.
  func peerOrBlocked(named text: String) throws(NotesError) -> PeerId {
    let blocked = peers(named: text, areBlocked: true)
    guard blocked.count == 1, peers(named: text, areBlocked: false).isEmpty else { return try peer(named: text) }
    return blocked[0].peer
  }

  /// The peers with exactly this name; if there are none, those with this name in another case.
  private func peers(named text: String, areBlocked: Bool) -> [PeerSummary] {
    let all = peers.filter { ($0.state == .blocked) == areBlocked }
    let exactly = all.filter { $0.name == text }
    return exactly.isEmpty ? all.filter { $0.name.lowercased() == text.lowercased() } : exactly
  }

  /// The access that this person can grant: no more than they have.
  func grantable(_ access: Access, to id: DocumentId) -> Access { min(access, self.access(to: id)) }
}

extension Parameters {
  private enum Granted: String, CaseIterable { case write, read }

  /// The access that an invitation or a ticket gives; by default to write.
  func grantedAccess(_ field: String) throws(ResponseError) -> Access {
    try choiceIfPresent(field, as: Granted.self) == .read ? .read : .write
  }
}
