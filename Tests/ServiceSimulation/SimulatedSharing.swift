import Automerge
import AutomergeRepo
import NotesServer

/// Shares every document with every connected peer, as if the people had exchanged tickets before.
@AutomergeRepo
public final class SimulatedSharing: SharingService {
  /// Whether this process has the person's network.
  public private(set) var hasNetwork = false
  public var onChange: (@AutomergeRepo (SharingEvent) -> Void)?
  private let repo: Repo

  init(_ repo: Repo) { self.repo = repo }

  func tookNetwork() {
    hasNetwork = true
    onChange?(.networkState)
  }

  public var peers: [PeerSummary] {
    let notes = repo.handles.map { (document: $0.id, access: Access.write) }
    return repo.peers.keys.sorted().filter {
      !repo.siblings.contains($0) && SimulatedGrants.names.contains($0.description)
    }.map { peer in
      PeerSummary(
        peer: peer, name: peer.description, fingerprint: "", state: .connected, isConnected: true, via: "", notes: notes
      )
    }
  }

  public var fingerprint: String { repo.peerId.description }
  public var asksSiblings: Bool { !hasNetwork }
  public var isNetworkElsewhere: Bool { false }
  public var networkState: String { hasNetwork ? "on" : "off" }
  public var discoveryState: String { "off" }
  public var sentCount: Int { 0 }
  public var movesToFollow: [NoteMove] { [] }
  public var invitations: [InvitationSummary] { [] }

  public func access(to document: DocumentId) -> Access { .write }
  public func host(of document: DocumentId) -> (peer: PeerId, name: String)? { nil }
  public func people(on document: DocumentId) -> [PersonSummary] {
    peers.map { PersonSummary(peer: $0.peer, name: $0.name, access: .write, isConnected: true) }
  }
  public func metName(ofAuthor author: [UInt8]) -> String? { nil }
  public func name(of peer: PeerId, claiming claim: String) -> String? { claim }
  public func standing(of peer: PeerId) -> PeerStanding { .met }
  public func refresh() async {}
  public func storeAdmission(to document: DocumentId) async {}
  public func disconnect(_ peer: PeerId) {}
  public func rename(_ name: String) {}
  public func followed(_ document: DocumentId) async throws(SharingError) {}
  public func unshare(_ document: DocumentId, from peer: PeerId?) async throws(SharingError) -> Bool { throw .refused }
  public func trust(_ peer: PeerId, name: String?, _ trust: PeerTrust) async throws(SharingError) { throw .refused }
  public func problem(of ticket: String) -> SharingError? { nil }
  public func hasTicket(for document: DocumentId) -> Bool { false }
  public func join(ticket: String) async throws(SharingError) -> DocumentId { throw .refused }
  public func connect(address: String) async throws(SharingError) -> PeerId { throw .refused }
  public func answer(_ invitation: String, accepts: Bool, blocks: Bool) async throws(SharingError) -> DocumentId? {
    throw .refused
  }
  public func verification(of peer: PeerId) throws(SharingError) -> (code: String, isChanged: Bool) { throw .refused }
  public func share(
    _ document: DocumentId, access: Access, uses: Int, expiresIn: Duration?
  ) async throws(SharingError) -> SharedTicket { throw .refused }
  public func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without peer: PeerId
  ) async throws(SharingError) { throw .refused }
  public func setAccess(_ access: Access, to document: DocumentId, for peer: PeerId) async throws(SharingError) -> Bool
  {
    throw .refused
  }
  public func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access
  ) async throws(SharingError) -> String? { throw .refused }
}
