import Automerge
import AutomergeRepo

/// What the service needs from the network: tickets, links, and the peers.
@AutomergeRepo
public protocol SharingService: AnyObject {
  var fingerprint: String { get }
  /// Whether this process is the one that has the person's network.
  var hasNetwork: Bool { get }
  /// Whether this process wants the network, and another process of the person has it.
  var asksSiblings: Bool { get }
  /// Whether another process of the person, as far as is known, has the network at present.
  var isNetworkElsewhere: Bool { get }
  /// `on`, or why there is no network.
  var networkState: String { get }
  /// `on`, `off`, or why discovery finds no peers.
  var discoveryState: String { get }
  var peers: [PeerSummary] { get }
  /// This person's access to a document: what its host has granted; full access to one's own.
  func access(to document: DocumentId) -> Access
  /// The host of a document; nil if it is this person's own.
  func host(of document: DocumentId) -> (peer: PeerId, name: String)?
  /// All people with whom a document is shared, online or not, by name.
  func people(on document: DocumentId) -> [PersonSummary]
  /// The name of this author, if this person has met them.
  /// - Parameter author: the first half of an actor id.
  func metName(ofAuthor author: [UInt8]) -> String?
  /// The name to show for a peer that claims one: the name it was met under; otherwise its claim, marked if another
  /// peer was met under that name; nil if the peer is blocked.
  func name(of peer: PeerId, claiming claim: String) -> String?
  func standing(of peer: PeerId) -> PeerStanding
  /// How many messages were sent to peers since the start.
  var sentCount: Int { get }

  func share(
    _ document: DocumentId, access: Access, uses: Int, expiresIn: Duration?
  ) async throws(SharingError) -> SharedTicket
  /// Why a ticket that this person has made admits no one any more; nil if it does.
  func problem(of ticket: String) -> SharingError?
  /// Whether a ticket of the document still admits a person.
  func hasTicket(for document: DocumentId) -> Bool
  /// Returns when access is granted; the document itself arrives through the repo.
  func join(ticket: String) async throws(SharingError) -> DocumentId
  /// Returns when the host of a document that was just joined is stored.
  func storeAdmission(to document: DocumentId) async
  /// Without a peer, revokes every grant and ticket of the document. False if there was none.
  @discardableResult
  func unshare(_ document: DocumentId, from peer: PeerId?) async throws(SharingError) -> Bool
  /// Grants a document's successor to every peer that has the document from this person, except one.
  /// - Parameter heads: the heads of the successor, which has everything that it continues with
  func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without peer: PeerId
  ) async throws(SharingError)
  /// Moves by hosts that this person's notes have not followed yet.
  var movesToFollow: [NoteMove] { get }
  /// Call when the note has become the successor: the old document is no longer shared.
  func followed(_ document: DocumentId) async throws(SharingError)
  /// Changes a peer's access to a document that it has from this person. False if it does not have the document from this
  /// person.
  func setAccess(_ access: Access, to document: DocumentId, for peer: PeerId) async throws(SharingError) -> Bool
  /// Call when another process of this person has stored a change of grants.
  func refresh() async
  /// Invites a person nearby to a document. Returns when the other side has the invitation.
  /// - Returns: six digits for both people to compare, if they meet for the first time.
  func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access
  ) async throws(SharingError) -> String?
  /// Invitations that wait for our answer, or for the other person's.
  var invitations: [InvitationSummary] { get }
  /// Returns when the document may be opened; nil if the person declined.
  func answer(_ invitation: String, accepts: Bool, blocks: Bool) async throws(SharingError) -> DocumentId?
  /// The digits that both people can compare at any time, and whether another key uses the same name.
  func verification(of peer: PeerId) throws(SharingError) -> (code: String, isChanged: Bool)
  func trust(_ peer: PeerId, name: String?, _ trust: PeerTrust) async throws(SharingError)
  func connect(address: String) async throws(SharingError) -> PeerId
  func disconnect(_ peer: PeerId)
  /// Stays connected to a server from now on, also after a restart. Returns once it has answered, or after a moment.
  func connect(server url: String, token: String?) async throws(SharingError) -> ServerConnection
  /// Ends the connection to a server permanently, and everything that is published there. False if it is not known.
  func forget(server url: String) async throws(SharingError) -> Bool
  /// Shares a document with a known server.
  func publish(_ document: DocumentId, on server: PeerId) async throws(SharingError) -> ServerConnection
  /// Call when a document requested by its id has not arrived: stops asking servers for it.
  func gaveUp(_ document: DocumentId) async
  /// Sets the name that other people see.
  func rename(_ name: String)
  /// Whether this person is announced on the local network, and sees others there.
  func setVisible(_ isVisible: Bool)
  /// Called whenever `peers` or `networkState` has changed.
  var onChange: (@AutomergeRepo (SharingEvent) -> Void)? { get set }
}

extension SharingService {
  /// For a network without discovery.
  public func setVisible(_ isVisible: Bool) {}
  public func connect(server url: String, token: String?) async throws(SharingError) -> ServerConnection {
    throw .networkOff(reason: "This service knows no servers.")
  }
  public func forget(server url: String) async throws(SharingError) -> Bool { false }
  public func publish(_ document: DocumentId, on server: PeerId) async throws(SharingError) -> ServerConnection {
    throw .refused
  }
  public func gaveUp(_ document: DocumentId) async {}

  /// The name to show for a peer; for an unknown one, the beginning of its id.
  func name(of peer: PeerId) -> String {
    peers.first { $0.peer == peer }?.name ?? String(peer.description.prefix(8))
  }
}

public struct SharedTicket: Sendable {
  public var text: String
  public var words: String
  /// Milliseconds since 1970; nil if it does not expire.
  public var expires: Int?

  public init(text: String, words: String, expires: Int?) {
    (self.text, self.words, self.expires) = (text, words, expires)
  }
}

/// A person with whom a document is shared.
public struct PersonSummary: Sendable {
  public var peer: PeerId
  public var name: String
  /// The person's access to the document.
  public var access: Access
  public var isConnected: Bool
  /// Why a server is not connected, as part of a sentence.
  public var problem: String?

  public init(peer: PeerId, name: String, access: Access, isConnected: Bool, problem: String? = nil) {
    (self.peer, self.name, self.access, self.isConnected) = (peer, name, access, isConnected)
    self.problem = problem
  }
}

public enum SharingError: Error, Hashable, Sendable {
  case ticketInvalid, ticketExpired, ticketUsed
  /// The text is a ticket, but its host has revoked it, or does not know it.
  case ticketRevoked
  /// The host reads no ticket of this person for a minute, because too many were wrong.
  case tooManyWrong
  case refused
  case unreachable(address: String)
  case timedOut
  /// The note is here, but not from this host.
  case alreadyHere(DocumentId)
  /// The invitation does not exist, or no longer does.
  case noInvitation
  case notReached(reason: String)
  case noAnswer(reason: String)
  case notAllowed(reason: String)
  case networkOff(reason: String)
}
