import Automerge
import AutomergeRepo
import Foundation
import Logging
import NotesServer
import PeerNetwork
import SyncServer

/// The directory of peers in the form that the server needs.
@AutomergeRepo
final class SharingAdapter: SharingService {
  private var directory: PeerDirectory?
  /// The stored grants, until there is a directory; nil if none are needed.
  private let grants: Grants?
  /// The value of `networkState` if there is no directory.
  var reasonForNoNetwork = "off"
  var onChange: (@AutomergeRepo (SharingEvent) -> Void)?
  /// The servers that the person's notes are published on; nil for a service that has none.
  private(set) var servers: SyncServers?
  private weak var repo: Repo?

  let clock: any RepoClock
  let log = Logger(label: "sharing")

  /// Without a network, until `take` is called.
  init(grants: Grants?, clock: any RepoClock) { (self.grants, self.clock) = (grants, clock) }

  /// Call when this process has the network.
  func take(_ directory: PeerDirectory?) {
    self.directory = directory
    directory?.onEvent = { [weak self] event in self?.onChange?(event) }
    setVisible(isVisible)
    onChange?(.networkState)
  }

  /// Whether this process may announce the person on the local network.
  var hasDiscovery = false
  private var isVisible = true

  func setVisible(_ isVisible: Bool) {
    self.isVisible = isVisible
    guard hasDiscovery, let directory else { return }
    if isVisible { directory.startDiscovery() } else { directory.hide() }
  }

  /// From now on the servers are peers of this repo, once it has added them as a network.
  func use(_ servers: SyncServers, of repo: Repo) {
    (self.servers, self.repo) = (servers, repo)
    servers.onChange = { [weak self] _ in self?.onChange?(.networkState) }
    repo.observe { [weak self] event in
      if case .peerConnected(let peer, _) = event { self?.compareAll(with: peer) }
    }
  }

  func policyChanged(for document: DocumentId) { repo?.policyChanged(for: document) }

  /// Call when a server is connected: loads what is published there, so that it is compared.
  private func compareAll(with peer: PeerId) {
    guard let documents = servers?[peer]?.documents else { return }
    Task { @AutomergeRepo in
      for id in documents.sorted(by: { $0.description < $1.description }) where repo?.handle(of: id) == nil {
        _ = await repo?.search(id)
      }
    }
  }

  var hasNetwork: Bool { directory != nil }

  /// Whether the person wants a network.
  var wantsNetwork = false

  var asksSiblings: Bool { directory == nil && wantsNetwork }

  /// The store's directory, in which the process with the network has a lock.
  var home: String?

  var isNetworkElsewhere: Bool { directory == nil && home.map { FileLock.isNetworkTaken(in: $0) } == true }

  var fingerprint: String { directory?.repo.peerId.description ?? "" }

  var networkState: String {
    guard let directory else { return reasonForNoNetwork }
    if let problem = directory.listenProblem { return problem.description }
    return directory.listening == nil ? "off" : "on"
  }

  var discoveryState: String {
    guard let discovery = directory?.discovery else { return "off" }
    return discovery.problem ?? "on"
  }

  var sentCount: Int { directory?.sentCount ?? 0 }

  var peers: [PeerSummary] { (directory?.peers ?? []) + serverPeers }

  func access(to document: DocumentId) -> Access { grants?.ownAccess(to: document) ?? .write }

  func host(of document: DocumentId) -> (peer: PeerId, name: String)? {
    guard let host = grants?.host(of: document) else { return nil }
    return (host, name(of: host))
  }

  func people(on document: DocumentId) -> [PersonSummary] {
    let all = (grants?.peers(on: document) ?? [:]).map { peer, access in
      PersonSummary(
        peer: peer, name: name(of: peer), access: access, isConnected: directory?.repo.peers[peer] != nil)
    }
    return all.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) } + serverPeople(on: document)
  }

  private func name(of peer: PeerId) -> String {
    if let servers, let server = servers[peer] { return servers.name(of: server) }
    return directory?.name(of: peer) ?? grants?.storedName(of: peer) ?? String(peer.description.prefix(8))
  }

  func metName(ofAuthor author: [UInt8]) -> String? {
    if let directory { directory.metName(ofAuthor: author) } else { grants?.metName(ofAuthor: author) }
  }

  func name(of peer: PeerId, claiming claim: String) -> String? {
    if let directory { return directory.name(of: peer, claiming: claim) }
    return grants?.storedName(of: peer, claiming: claim) ?? claim
  }

  func standing(of peer: PeerId) -> PeerStanding {
    servers?[peer] != nil ? .met : directory?.standing(of: peer) ?? .stranger
  }

  func setAccess(_ access: Access, to document: DocumentId, for peer: PeerId) async throws(SharingError) -> Bool {
    let directory = try network()
    do {
      return try await directory.setAccess(access, to: document, for: peer)
    } catch {
      throw .notStored(error)
    }
  }

  func refresh() async {
    guard directory == nil else { return }
    // If the store cannot be read, keeps what was read before.
    try? await grants?.reload()
  }

  func share(
    _ document: DocumentId, access: Access, uses: Int, expiresIn: Duration?
  ) async throws(SharingError) -> SharedTicket {
    let directory = try network()
    guard directory.listening != nil else { throw .networkOff(reason: "Peers cannot reach us: \(networkState).") }
    do {
      let ticket = try await directory.share(document, access: access, uses: uses, expiresIn: expiresIn)
      guard let ticket else { throw SharingError.refused }
      return SharedTicket(
        text: ticket.description, words: ticket.words,
        expires: ticket.expires.map { Int($0.timeIntervalSince1970 * 1000) })
    } catch let error as SharingError {
      throw error
    } catch {
      throw .notAllowed(reason: "The ticket could not be stored: \(error).")
    }
  }

  func problem(of ticket: String) -> SharingError? {
    guard let ticket = try? Ticket(parsing: ticket) else { return .ticketInvalid }
    return directory?.problem(of: ticket).map { SharingError($0) }
  }

  func hasTicket(for document: DocumentId) -> Bool { directory?.hasTicket(for: document) ?? false }

  func join(ticket: String) async throws(SharingError) -> DocumentId {
    if ticket.hasPrefix("automerge:"), let id = DocumentId(ticket) {
      try await seek(id)
      return id
    }
    if let ticket = ServerTicket(ticket) {
      try await seek(ticket)
      return ticket.document
    }
    do {
      return try await network().join(ticket: ticket)
    } catch let error as JoinError {
      throw SharingError(error)
    } catch let error as SharingError {
      throw error
    } catch {
      throw .refused
    }
  }

  func storeAdmission(to document: DocumentId) async { await directory?.storeAdmission(to: document) }

  func unshare(_ document: DocumentId, from peer: PeerId?) async throws(SharingError) -> Bool {
    let wasPublished = servers?.servers(with: document).isEmpty == false
    guard !(try await unpublish(document, from: peer)) else { return true }
    let directory = try network()
    do {
      let wasShared = try await directory.unshare(document, from: peer)
      return wasShared || wasPublished && peer == nil
    } catch {
      throw .notAllowed(
        reason: "Sharing has ended, but may resume after a restart; the store could not be written: \(error).")
    }
  }

  func move(
    _ document: DocumentId, to successor: DocumentId, heads: Set<ChangeHash>, without peer: PeerId
  ) async throws(SharingError) {
    let directory = try network()
    do {
      try await directory.move(document, to: successor, heads: heads, without: [peer])
    } catch {
      throw .notAllowed(reason: "The store could not be written: \(error).")
    }
    try await republish(document, as: successor, without: peer)
  }

  var movesToFollow: [NoteMove] { directory?.movesToFollow ?? [] }

  func followed(_ document: DocumentId) async throws(SharingError) {
    do {
      try await network().followed(document)
    } catch let error as SharingError {
      throw error
    } catch {
      throw .notAllowed(reason: "The store could not be written: \(error).")
    }
  }

  func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access
  ) async throws(SharingError) -> String? {
    if servers?[peer] != nil {
      try await publish(document, on: peer)
      return nil
    }
    let directory = try network()
    do {
      return try await directory.invite(peer, to: document, title: title, access: access)
    } catch {
      throw SharingError(error)
    }
  }

  var invitations: [InvitationSummary] { directory?.invitationSummaries ?? [] }

  func answer(_ invitation: String, accepts: Bool, blocks: Bool) async throws(SharingError) -> DocumentId? {
    let directory = try network()
    do {
      return try await directory.answer(invitation, accepts: accepts, blocks: blocks)
    } catch {
      throw SharingError(error)
    }
  }

  func trust(_ peer: PeerId, name: String?, _ trust: PeerTrust) async throws(SharingError) {
    let directory = try network()
    do {
      try await directory.setTrust(trust, of: peer, name: name)
    } catch {
      throw .notStored(error)
    }
  }

  func verification(of peer: PeerId) throws(SharingError) -> (code: String, isChanged: Bool) {
    let directory = try network()
    guard let code = directory.verificationCode(with: peer) else { throw .refused }
    return (code, directory.isNameShared(by: peer))
  }

  func connect(address: String) async throws(SharingError) -> PeerId {
    let directory = try network()
    do {
      return try await directory.connect(address: address)
    } catch {
      throw .notAllowed(reason: "\(error)")
    }
  }

  func disconnect(_ peer: PeerId) { directory?.disconnect(peer) }

  func rename(_ name: String) {
    directory?.rename(name)
    if let repo { servers?.update(repo.metadata) }
  }

  private func network() throws(SharingError) -> PeerDirectory {
    guard let directory else { throw .networkOff(reason: "The network is not available: \(reasonForNoNetwork).") }
    return directory
  }
}
