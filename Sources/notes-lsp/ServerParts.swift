import AutomergeRepo
import Foundation
import JSONRPC
import Logging
import NotesServer
import PeerNetwork
import PeerTransport
import PostgresStorage
import SQLiteStorage
import Store
import SyncServer
import UV
import WebSocketNetwork

/// What a running server consists of.
///
///     peers with a key ◄──► TCPProvider ◄──────► MeteredProvider ◄──► Repo ◄──► store
///                                ▲                                     ▲
///                          PeerDirectory                          ServerPolicy      the access file, tickets and invitations
///                                                                      ▼
///     programs with a token ◄──► WebSocketCallers ◄──► MeteredProvider ◄──► Repo
///
/// A `Service` without files or editors answers the commands of a shell, such as `notes-lsp status`.
@AutomergeRepo
final class ServerParts {
  private let settings: ServerProgram.Settings
  private let loop: Loop
  private let repo: Repo
  private let policy: ServerPolicy
  private let peers: TCPProvider
  private let callers: WebSocketCallers
  private let directory: PeerDirectory
  private let siblings: UnixSocketProvider
  private let session: Session
  private let metrics: ServerMetrics
  private let delay: LoopDelay
  private let lock: FileLock
  private var metricsListener: MetricsListener?
  /// The other servers on the same database.
  private var storeSiblings: StoreSiblings?

  /// Opens the store and puts everything together; no peer can connect yet.
  static func open(
    _ settings: ServerProgram.Settings, file: ServerAccess?, loop: Loop, clock: LoopClock
  ) async throws -> ServerParts {
    let storage = try await sqlite(settings.home)
    guard let lock = FileLock.network(of: settings.home) else {
      throw Failure(message: "Another notes-lsp already serves \(settings.home). Stop it, or choose another --home.")
    }
    let parts = try await ServiceParts.load(
      from: storage, home: settings.home, name: settings.name, login: settings.login, clock: clock)
    let grants = parts.grants
    let policy = ServerPolicy(file: file, granted: grants)
    let repo = parts.repo(
      documents: try await documents(settings, home: storage, loop: loop, clock: clock), policy: policy)
    repo.texts.areKept = false
    let sharing = SharingAdapter(grants: grants, clock: clock)
    let service = parts.service(of: repo, sharing: sharing, folder: NotesFolder(settings.home + "/notes"))
    let siblings = try parts.joinSiblings(repo, of: service, on: loop)
    let peers = try TCPProvider(loop: loop, clock: clock, identity: parts.identity)
    peers.admit { [weak policy] peer in policy?.isAdmitted(peer) ?? false }
    let metered = MeteredProvider(peers)
    repo.add(metered)
    let callers = WebSocketCallers(WebSocketProvider(loop: loop, clock: clock), policy: policy)
    let meteredCallers = MeteredProvider(callers)
    repo.add(meteredCallers)
    let directory = try await PeerDirectory.open(repo: repo, provider: peers, grants: grants, storage: storage)
    sharing.take(directory)
    try await service.load()
    let delay = LoopDelay(clock: clock)
    return ServerParts(
      settings, loop, repo, policy, peers, callers, directory, siblings, Session(service: service) { _ in },
      ServerMetrics(repo: repo, networks: [("peers", metered), ("websocket", meteredCallers)], loop: delay), delay, lock
    )
  }

  private static func sqlite(_ directory: String) async throws -> SQLiteStore {
    let storage = try await SQLiteStore.open(directory: URL(fileURLWithPath: directory, isDirectory: true))
    guard !storage.isReadOnly else { throw Failure(message: "The store in \(directory) is not writable.") }
    return storage
  }

  /// The store of the documents. What a server knows of its peers stays in its home, because other servers have other
  /// peers.
  private static func documents(
    _ settings: ServerProgram.Settings, home: SQLiteStore, loop: Loop, clock: LoopClock
  ) async throws -> any StorageProvider {
    switch settings.documents {
    case .directory(settings.home): home
    case .directory(let path): try await sqlite(path)
    case .postgres(let url): try await PostgresStore.open(url, loop: loop, clock: clock)
    }
  }

  private init(
    _ settings: ServerProgram.Settings, _ loop: Loop, _ repo: Repo, _ policy: ServerPolicy, _ peers: TCPProvider,
    _ callers: WebSocketCallers, _ directory: PeerDirectory, _ siblings: UnixSocketProvider, _ session: Session,
    _ metrics: ServerMetrics,
    _ delay: LoopDelay, _ lock: FileLock
  ) {
    (self.settings, self.loop, self.repo, self.policy, self.peers) = (settings, loop, repo, policy, peers)
    self.callers = callers
    (self.directory, self.siblings, self.session, self.metrics) = (directory, siblings, session, metrics)
    (self.delay, self.lock) = (delay, lock)
  }

  // MARK: Listening

  /// Lets peers and monitoring programs connect from now on.
  func listen() async throws {
    try joinStoreSiblings()
    do {
      try await directory.listen(at: settings.listen)
    } catch {
      throw Failure(message: "Peers cannot connect: \(error).")
    }
    if let text = settings.websocket {
      let address = try Self.address(text, of: "--websocket")
      do {
        _ = try callers.listen(at: address, certificate: settings.certificate)
      } catch {
        throw Failure(message: "WebSocket peers cannot connect: \(error).")
      }
    }
    if let text = settings.metrics {
      let address = try Self.address(text, of: "--metrics")
      do {
        metricsListener = try MetricsListener(on: loop, host: address.host, port: address.port) { [metrics] in
          metrics.page
        }
      } catch {
        throw Failure(message: "Cannot serve metrics at \(text): \(error.message).")
      }
    }
    session.serviceIsLoaded()
    delay.start()
  }

  /// Other servers on the same database connect to the same address as peers, but to another port.
  private func joinStoreSiblings() throws {
    guard let store = repo.storage as? PostgresStore else { return }
    do {
      storeSiblings = try StoreSiblings(
        of: store, for: repo, at: try Self.address(settings.listen, of: "--listen"), loop: loop, clock: LoopClock(loop))
    } catch let error as PeerNetworkError {
      throw Failure(message: "Other servers on this database cannot connect: \(error).")
    }
  }

  private static func address(_ text: String, of option: String) throws -> PeerAddress {
    guard let address = PeerAddress(text) else { throw Failure(message: "\(option): \(text) is not host:port.") }
    return address
  }

  var readyLine: JSONValue {
    let scheme = settings.certificate == nil ? "ws" : "wss"
    return .object(present: [
      "ready": true, "listen": directory.listening.map { .string($0.description) },
      "websocket": callers.listening.map { .string("\(scheme)://\($0)/") },
      "metrics": metricsListener?.address.map { .string("http://\($0)/metrics") },
      "peer": .string(repo.peerId.description),
    ])
  }

  // MARK: Running

  func use(_ file: ServerAccess) {
    policy.use(file)
    repo.policyChanged()
    callers.dropUnwanted()
  }

  /// Takes nothing more from peers.
  func stopListening() {
    repo.stopReceiving()
    metricsListener?.stop()
    callers.stopListening()
    delay.stop()
  }

  /// Returns when everything is stored.
  func store() async throws(StorageError) {
    try await repo.flush()
    await storeSiblings?.stop()
    // What a shell's command has changed meanwhile.
    try await repo.flush()
  }

  func stop() {
    metricsListener?.stop()
    peers.stop()
    callers.stop()
    siblings.stop()
  }
}
