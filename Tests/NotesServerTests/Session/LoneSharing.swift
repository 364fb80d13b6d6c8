import Automerge
import AutomergeRepo
import NotesServer

/// A person without a network of their own, for whom all documents have one host.
@AutomergeRepo
final class LoneSharing: SharingService {
  var hostName: String?
  var access = Access.write
  var peers: [PeerSummary] = []
  var fingerprint: String { "" }
  var hasNetwork = false
  var isNetworkElsewhere = false
  var asksSiblings: Bool { false }
  var networkState: String { "off" }
  var discoveryState: String { "off" }
  var sentCount: Int { 0 }
  var movesToFollow: [NoteMove] { [] }
  var invitations: [InvitationSummary] = []
  /// The documents of other hosts than `hostName`, and the people on each document.
  var hosts: [DocumentId: String] = [:]
  var readers: [DocumentId: [PersonSummary]] = [:]
  /// The document that any ticket is for; without one, tickets are refused.
  var granted: DocumentId?
  /// Why the tickets are not valid; nil if they are.
  var ticketProblem: SharingError?
  /// The documents with a ticket, and the guests.
  var ticketed: Set<DocumentId> = []
  var guests: Set<PeerId> = []
  var onChange: (@AutomergeRepo (SharingEvent) -> Void)?

  func access(to document: DocumentId) -> Access { access }
  func host(of document: DocumentId) -> (peer: PeerId, name: String)? {
    (hosts[document] ?? hostName).map { (PeerId("host"), $0) }
  }
  func people(on document: DocumentId) -> [PersonSummary] { readers[document] ?? [] }
  func metName(ofAuthor author: [UInt8]) -> String? { nil }
  func name(of peer: PeerId, claiming claim: String) -> String? { claim }
  var standing: (PeerId) -> PeerStanding = { _ in .met }
  func standing(of peer: PeerId) -> PeerStanding { standing(peer) }
  func refresh() async {}
  func storeAdmission(to document: DocumentId) async {}
  func disconnect(_ peer: PeerId) {}
  func rename(_ name: String) {}
  func followed(_ document: DocumentId) async throws(SharingError) {}
  func unshare(_ document: DocumentId, from peer: PeerId?) async throws(SharingError) -> Bool {
    peer.map(guests.contains) ?? false
  }
  func trust(_ peer: PeerId, name: String?, _ trust: PeerTrust) async throws(SharingError) { throw .refused }
  func problem(of ticket: String) -> SharingError? { ticketProblem }
  func hasTicket(for document: DocumentId) -> Bool { ticketed.contains(document) }
  func join(ticket: String) async throws(SharingError) -> DocumentId {
    guard let granted else { throw .refused }
    return granted
  }
  func connect(address: String) async throws(SharingError) -> PeerId { throw .refused }
  func answer(_ invitation: String, accepts: Bool, blocks: Bool) async throws(SharingError) -> DocumentId? {
    throw .refused
  }
  func verification(of peer: PeerId) throws(SharingError) -> (code: String, isChanged: Bool) { throw .refused }
  func share(
    _ document: DocumentId, access: Access, uses: Int, expiresIn: Duration?
  ) async throws(SharingError) -> SharedTicket { throw .refused }
  func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without peer: PeerId
  ) async throws(SharingError) { throw .refused }
  func setAccess(_ access: Access, to document: DocumentId, for peer: PeerId) async throws(SharingError) -> Bool {
    guard guests.contains(peer) else { throw .refused }
    if access == .none { ticketed.remove(document) }
    return true
  }
  func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access
  ) async throws(SharingError) -> String? { throw .refused }
}
