import AutomergeRepo
import JSONRPC

extension SharingService {
  /// The peer that a request names: by its id, or by a name that only one peer has.
  func peer(named text: String) throws(NotesError) -> PeerId {
    if let match = peers.first(where: { $0.peer.description == text }) { return match.peer }
    let exactly = peers.filter { $0.name == text && $0.state != .blocked }
    let named =
      exactly.isEmpty
      ? peers.filter { $0.name.lowercased() == text.lowercased() && $0.state != .blocked } : exactly
    guard named.count <= 1 else {
      throw NotesError(.conflict, "There are \(named.count) people called \(text); choose one by its id.")
    }
    guard let match = named.first else { throw NotesError(.notFound, "No peer called \(text) is known or nearby.") }
    return match.peer
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
