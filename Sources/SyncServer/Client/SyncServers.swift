import AutomergeRepo
import Logging
import WebSocketNetwork

/// The servers that this person's service stays connected to, as a network of the repo, and the documents published on
/// each.
///
/// The repo's id for a server is its address, and not the id that it claims: a server could claim a friend's. The
/// servers are stored. A process connects to them after `start`, which the repo calls when this is added as a network.
public final class SyncServers: NetworkProvider, NetworkDelegate {
  /// The state of the connection to a server.
  public enum State: Hashable, Sendable {
    case connecting
    case connected
    /// The service will call it again; the reason is part of a sentence.
    case waiting(reason: String)
  }

  private let sockets: WebSocketProvider
  private let storage: any StorageProvider
  private let logger: Logger
  private var seal: TokenSeal
  private var servers: [PeerId: KnownServer] = [:]
  private weak var delegate: (any NetworkDelegate)?
  /// Nil until started and after stopping.
  private var alias: PeerAlias?
  /// The ids that connected servers claim, each with the server.
  private var claims: [PeerId: PeerId] = [:]
  private var owners: [PeerId: PeerId] = [:]
  /// The tasks that wait for the first call of a server to end.
  private var waiting: [PeerId: [OneReply<Void>]] = [:]
  /// Called when a server's state or its documents have changed.
  public var onChange: (@AutomergeRepo (PeerId) -> Void)?

  /// Reads the stored servers.
  ///
  /// - Parameter seal: the seal of the stored tokens
  public static func load(
    from storage: any StorageProvider, sealedBy seal: TokenSeal, sockets: WebSocketProvider,
    logger: Logger = Logger(label: "servers")
  ) async throws(StorageError) -> SyncServers {
    let servers = SyncServers(storage, seal, sockets, logger)
    try await servers.reload()
    return servers
  }

  private init(
    _ storage: any StorageProvider, _ seal: TokenSeal, _ sockets: WebSocketProvider, _ logger: Logger
  ) {
    (self.storage, self.seal, self.sockets, self.logger) = (storage, seal, sockets, logger)
    sockets.onServerChange = { [weak self] url, _ in self?.changed(PeerId(url.description)) }
  }

  /// The name to show.
  public func name(of server: KnownServer) -> String { server.name(among: servers.values) }

  private func changed(_ peer: PeerId) {
    for reply in waiting.removeValue(forKey: peer) ?? [] { reply.resume(returning: ()) }
    onChange?(peer)
  }

  /// Reads the stored servers again: another process of the same person may have written them.
  public func reload() async throws(StorageError) {
    var found: [PeerId: KnownServer] = [:]
    for (key, record) in try await storage.records(under: KnownServer.prefix) {
      guard let server = KnownServer(record: record, sealedBy: seal) else { continue }
      found[server.peer] = server
      // Stored by an earlier version.
      if KnownServer.isOpen(record) { try await storage.saveRecord(server.record(sealedBy: &seal), at: key) }
    }
    servers = found
  }

  // MARK: Servers

  /// In the order of their addresses.
  public var all: [KnownServer] { servers.values.sorted { $0.peer < $1.peer } }

  public subscript(peer: PeerId) -> KnownServer? { servers[peer] }

  public func state(of peer: PeerId) -> State? {
    guard let server = servers[peer] else { return nil }
    return switch sockets.serverStates[server.url] {
    case .connected: .connected
    case .waiting(let error): .waiting(reason: error.reason ?? "\(error)")
    case .connecting, nil: .connecting
    }
  }

  /// Returns when the first call of a server has ended, or after `limit`.
  public func settled(_ peer: PeerId, within limit: Duration, by clock: any RepoClock) async {
    guard state(of: peer) == .connecting else { return }
    await OneReply<Void>.wait(otherwise: ()) { reply in
      waiting[peer, default: []].append(reply)
      clock.schedule(after: limit) { reply.resume(returning: ()) }
    }
  }

  /// Stays connected to a server from now on, also after a restart. A known server gets the new token, or keeps its own if there is
  /// none.
  public func insert(_ server: KnownServer) async throws(StorageError) {
    var server = server
    if let old = servers[server.peer] {
      server.documents.formUnion(old.documents)
      if old.url == server.url { server.token = server.token ?? old.token } else { sockets.forget(old.url) }
    }
    servers[server.peer] = server
    if alias != nil { sockets.connect(to: server.url, token: server.token) }
    try await storage.saveRecord(server.record(sealedBy: &seal), at: server.key)
  }

  /// Ends the connection and forgets the server and what was published on it. False if the server is not known.
  public func remove(_ peer: PeerId) async throws(StorageError) -> Bool {
    guard let server = servers.removeValue(forKey: peer) else { return false }
    sockets.forget(server.url)
    onChange?(peer)
    try await storage.remove(server.key)
    return true
  }

  // MARK: Documents

  /// Shares a document with a server. Call `Repo.policyChanged` afterwards.
  public func publish(_ document: DocumentId, on peer: PeerId) async throws(StorageError) {
    guard servers[peer]?.documents.insert(document).inserted == true else { return }
    try await store(peer)
  }

  /// Stops sharing a document with a server, which keeps what it has. Call `Repo.policyChanged` afterwards.
  public func unpublish(_ document: DocumentId, from peer: PeerId) async throws(StorageError) {
    guard servers[peer]?.documents.remove(document) != nil else { return }
    try await store(peer)
  }

  /// The servers that may have a document.
  public func servers(with document: DocumentId) -> [KnownServer] {
    all.filter { $0.documents.contains(document) }
  }

  private func store(_ peer: PeerId) async throws(StorageError) {
    guard let server = servers[peer] else { return }
    onChange?(peer)
    try await storage.saveRecord(server.record(sealedBy: &seal), at: server.key)
  }

  // MARK: Towards the network

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    let alias = PeerAlias(local.peerId)
    (self.delegate, self.alias) = (delegate, alias)
    sockets.start(as: LocalPeer(peerId: alias.shown, metadata: local.metadata), delegate: self)
    for server in all { sockets.connect(to: server.url, token: server.token) }
  }

  public func stop() {
    sockets.stop()
    alias = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let alias, let claim = claims[peer] else { return }
    sockets.send(alias.outgoing(message).exchanging(peer, for: claim), to: claim)
  }

  public func disconnect(_ peer: PeerId) { if let claim = claims[peer] { sockets.disconnect(claim) } }

  public func proof(of peer: PeerId) -> PeerProof? { claims[peer].flatMap { sockets.proof(of: $0) } }

  public func setReading(_ reads: Bool, from peer: PeerId) {
    if let claim = claims[peer] { sockets.setReading(reads, from: claim) }
  }

  /// Sets how this person is introduced to servers from now on.
  public func update(_ metadata: PeerMetadata) { sockets.update(metadata) }

  // MARK: Towards the repo

  public func network(_ provider: any NetworkProvider, connected claim: PeerId, metadata: PeerMetadata) {
    guard case .address(let text)? = sockets.proof(of: claim), servers[PeerId(text)] != nil else {
      return sockets.disconnect(claim)
    }
    let peer = PeerId(text)
    (claims[peer], owners[claim]) = (claim, peer)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  public func network(_ provider: any NetworkProvider, disconnected claim: PeerId) {
    guard let peer = owners.removeValue(forKey: claim) else { return }
    claims[peer] = nil
    delegate?.network(self, disconnected: peer)
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from claim: PeerId) {
    guard let alias, let peer = owners[claim] else { return }
    delegate?.network(self, received: alias.incoming(message.exchanging(claim, for: peer)), from: peer)
  }

  public func network(_ provider: any NetworkProvider, _ claim: PeerId, isCrowded: Bool) {
    if let peer = owners[claim] { delegate?.network(self, peer, isCrowded: isCrowded) }
  }
}
