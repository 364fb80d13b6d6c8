import AutomergeRepo
import Foundation
import Logging
import RepoTestSupport

@testable import PeerNetwork
@testable import PeerTransport

/// A repo without documents, for the parts of the directory: says who is connected, and notes what is sent.
@AutomergeRepo
final class FakeNetwork: PeerMessaging, SharedDocuments {
  nonisolated let peerId = Identity().peerId
  let metadata = PeerMetadata(name: "Ana")
  let manualClock = ManualClock()
  var clock: any RepoClock { manualClock }
  var peers: [PeerId: PeerMetadata] = [:]
  /// The messages that were sent, with their receivers.
  var sent: [(type: String, fields: [String: CBOR], peer: PeerId)] = []
  var complaints: [PeerId] = []
  /// The documents about which the policy was asked again.
  var reconsidered: [DocumentId] = []
  /// The documents that are here.
  var documents: Set<DocumentId> = []

  func send(type: String, fields: [String: CBOR], to peer: PeerId) { sent.append((type, fields, peer)) }
  func complain(of peer: PeerId, _ what: String) { complaints.append(peer) }
  func handle(of id: DocumentId) -> DocHandle? { nil }
  func isHere(_ id: DocumentId) async throws(StorageError) -> Bool { documents.contains(id) }
  func fetch(_ id: DocumentId) async {}
  func policyChanged(for document: DocumentId?) { if let document { reconsidered.append(document) } }
}

/// Links that are always there, and note what is wanted of them.
@AutomergeRepo
final class FakeLinks: PeerLinking {
  var connected: Set<PeerId> = []
  /// The peers to keep connected, and where.
  var wanted: [PeerId: [PeerAddress]] = [:]
  var calledNow: [PeerId] = []
  var disconnected: [PeerId] = []
  var probed: [PeerId] = []
  /// Addresses where a peer answers.
  var answering: Set<PeerAddress> = []
  /// How many of the next links end as soon as they are there.
  var endingCount = 0
  private(set) var failureCount = 0

  func isConnected(_ peer: PeerId) -> Bool { connected.contains(peer) }
  func dialledAddress(of peer: PeerId) -> PeerAddress? { nil }
  func connect(
    toAnyOf addresses: [PeerAddress], expecting peer: PeerId?
  ) async throws(PeerNetworkError) -> PeerId {
    guard let peer, let first = addresses.first else { throw .badAddress("") }
    guard addresses.contains(where: answering.contains) else {
      failureCount += 1
      throw .unreachable(first, reason: "no peer is there")
    }
    if endingCount > 0 { endingCount -= 1 } else { connected.insert(peer) }
    return peer
  }
  func connect(to address: PeerAddress, keyBeginningWith start: [UInt8]) async throws(PeerNetworkError) -> PeerId {
    throw .unreachable(address, reason: "no peer is there")
  }
  func disconnect(_ peer: PeerId) { disconnected.append(peer) }
  func keepConnected(to peer: PeerId, at addresses: [PeerAddress]) { wanted[peer] = addresses }
  func forget(_ peer: PeerId) { wanted[peer] = nil }
  func callNow(_ peer: PeerId) { calledNow.append(peer) }
  func trust(_ peer: PeerId) {}
  func probe(_ peer: PeerId, heardAt addresses: [PeerAddress]) { probed.append(peer) }
}

/// A registry and what it needs, without a socket.
@AutomergeRepo
struct DirectoryFixture {
  let network = FakeNetwork()
  let provider = FakeLinks()
  let store: PeerStore
  let grants: Grants
  let registry: PeerRegistry
  let links: LinkKeeper
  let news: PeerNews
  let admissions: Admissions
  let guests: GuestIntroductions
  let tickets: TicketIssuer
  let invitations: InvitationExchange
  let mover: DocumentMover
  let trust: TrustDecisions

  init(storage: any StorageProvider = InMemoryStorage()) async throws {
    store = PeerStore(storage: storage, logger: Logger(label: "test"))
    grants = try await Grants.load(from: storage)
    registry = try await PeerRegistry.load(from: store, grants: grants, network: network)
    links = LinkKeeper(provider, registry, grants, clock: network.clock)
    news = PeerNews(registry, clock: network.clock)
    admissions = Admissions(network, grants, registry, links, news, store)
    guests = GuestIntroductions(network, grants, registry, links, admissions, news, store)
    tickets = TicketIssuer(TicketBook(), network, grants, registry, links, guests, news, store)
    invitations = InvitationExchange(
      OfferBudget(), network, grants, registry, provider, links, admissions, guests, news, store)
    mover = DocumentMover(
      MoveHistory(), network, grants, registry, links, admissions, guests, tickets, invitations, news, store)
    trust = TrustDecisions(network, registry, provider, admissions, guests, tickets, invitations, news, store)
  }

  /// A document id, by a number.
  static func document(_ number: UInt8) throws -> DocumentId {
    guard let id = DocumentId(bytes: [UInt8](repeating: number, count: 16)) else { throw NeverHappened(what: "an id") }
    return id
  }

  /// An address on the local network, by a number.
  static func address(_ number: UInt8) -> PeerAddress { PeerAddress(host: "192.168.1.\(number)", port: 7000) }
}
