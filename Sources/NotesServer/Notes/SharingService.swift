import AutomergeRepo

/// What the server asks of the network: tickets, links, and who is there.
@AutomergeRepo
public protocol SharingService: AnyObject {
  var fingerprint: String { get }
  /// `on`, or why there is no network.
  var networkState: String { get }
  var peers: [PeerSummary] { get }

  func share(
    _ document: DocumentId, access: Access, uses: Int, expiresIn: Duration?
  ) async throws(SharingError) -> SharedTicket
  /// Ends when the grant is there; the document itself comes by the repo.
  func join(ticket: String) async throws(SharingError) -> DocumentId
  /// Without a peer: withdraws every grant and ticket of the document.
  func unshare(_ document: DocumentId, from peer: PeerId?) async throws(SharingError)
  func connect(address: String) async throws(SharingError) -> PeerId
  func disconnect(_ peer: PeerId)
  /// The name others see from now on.
  func rename(_ name: String)
  /// Called whenever `peers` or `networkState` would answer differently.
  var onChange: (@AutomergeRepo (SharingEvent) -> Void)? { get set }
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

public struct PeerSummary: Sendable {
  public enum State: String, Sendable { case connected, known }

  public var peer: PeerId
  public var name: String
  public var fingerprint: String
  public var state: State
  /// The address, or how else it is reached.
  public var via: String
  public var notes: [(document: DocumentId, access: Access)]

  public init(
    peer: PeerId, name: String, fingerprint: String, state: State, via: String,
    notes: [(document: DocumentId, access: Access)]
  ) {
    (self.peer, self.name, self.fingerprint) = (peer, name, fingerprint)
    (self.state, self.via, self.notes) = (state, via, notes)
  }
}

public enum SharingEvent: Hashable, Sendable {
  case online(PeerId, name: String)
  case offline(PeerId, name: String)
  /// A peer was let in to a document by a ticket.
  case joined(PeerId, name: String, DocumentId)
  case networkState
}

public enum SharingError: Error, Hashable, Sendable {
  case ticketInvalid, ticketExpired, ticketUsed
  case refused
  case unreachable(address: String)
  case timedOut
  case notAllowed(reason: String)
  case networkOff(reason: String)
}
