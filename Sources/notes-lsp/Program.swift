import Automerge
import AutomergeRepo
import Foundation
import Logging
import NotesServer
import PeerNetwork
import PeerTransport
import SQLiteStorage
import Store
import SyncServer
import UV
import WebSocketNetwork

/// The parts of one process, put together: standard input to the session, the session to the repo, the repo to store and
/// peers.
@AutomergeRepo
final class Program {
  struct Settings: Sendable {
    var home: String
    var notes: NotesFolder
    /// The person's name from an option.
    var name: String?
    var login: String
    var listen: String
    var hasNetwork: Bool
    var hasDiscovery: Bool
    var record: String?
  }

  private(set) var exitCode: Int32 = 1
  private let settings: Settings
  private let loop: Loop
  private let clock: LoopClock
  private let log = Logger(label: "notes-lsp")
  private var session: Session?
  private var input: StandardInput?
  private var output: StandardOutput?
  private var network: Network?
  private var siblings: UnixSocketProvider?
  private var signals: [SignalWatcher] = []
  private var editor: ProcessWatcher?

  /// The person's network, which one process has at a time.
  private struct Network {
    let lock: FileLock
    let provider: TCPProvider
    var directory: PeerDirectory?
    var servers: SyncServers?
  }

  init(settings: Settings, loop: Loop) {
    (self.settings, self.loop) = (settings, loop)
    clock = LoopClock(loop)
  }

  /// Starts; everything else is driven by the loop.
  func start() {
    Task { @AutomergeRepo in
      do {
        try await open()
      } catch {
        complain(
          error is StorageError
            ? "The store in \(settings.home) cannot be used: \(error)." : "notes-lsp cannot start: \(error)")
        loop.stop()
      }
    }
  }

  private func open() async throws {
    let storage = try await SQLiteStore.open(directory: URL(fileURLWithPath: settings.home, isDirectory: true))
    let parts = try await ServiceParts.load(
      from: storage, home: settings.home, name: settings.name, login: settings.login, clock: clock)
    let grants = parts.grants
    let servers = try await SyncServers.load(
      from: storage, sealedBy: TokenSeal(parts.identity), sockets: WebSocketProvider(loop: loop, clock: clock))
    let repo = parts.repo(documents: storage, policy: PublishingPolicy(granted: grants, servers: servers))
    repo.signer = parts.identity.signer
    let sharing = SharingAdapter(grants: grants, clock: clock)
    sharing.use(servers, of: repo)
    sharing.wantsNetwork = settings.hasNetwork
    sharing.home = settings.home
    sharing.hasDiscovery = settings.hasDiscovery
    let service = parts.service(of: repo, sharing: sharing, folder: settings.notes)
    // The editor is answered now. Its requests wait until the notes are read and the network is up.
    let session = try serve(service)
    storage.onSetAside { news in
      Task { @AutomergeRepo in session.tell(news.cause == .empty ? .empty : .damaged) }
    }
    let loading = Task { @AutomergeRepo in try await service.load(watching: FolderWatchingAdapter(loop: loop)) }
    joinSiblings(repo, of: service, parts)
    if settings.hasNetwork, !parts.person.isGiven { await initialized(session) }
    if let directory = try await openNetwork(repo, parts) {
      sharing.take(directory)
      connect(to: servers, for: repo)
    } else if settings.hasNetwork {
      sharing.reasonForNoNetwork = "another notes-lsp of yours has the network"
      seekNetwork(for: sharing) { [weak self] in
        try await grants.reload()
        try await servers.reload()
        let directory = try await self?.openNetwork(repo, parts)
        if directory != nil { self?.connect(to: servers, for: repo) }
        return directory
      }
    }
    try await loading.value
    session.serviceIsLoaded()
  }

  /// How long an editor may take to introduce itself to a service that does not know its person's name.
  private static let introductionTime: Duration = .seconds(1)

  /// Returns when the editor has sent its person's name, or after a while: peers should not first see the login name that the
  /// real name replaces.
  private func initialized(_ session: Session) async {
    var deadline: (any ScheduledAction)?
    await OneReply<Void>.wait(otherwise: ()) { reply in
      guard !session.isInitialized else { return reply.resume(returning: ()) }
      session.onInitialize = { reply.resume(returning: ()) }
      deadline = clock.schedule(after: Self.introductionTime) { reply.resume(returning: ()) }
    }
    deadline?.cancel()
    session.onInitialize = nil
  }

  /// The interval at which this process tries to take over the network from one that has ended. The system reports neither
  /// the end of another program's process nor the release of a lock.
  private static let seekInterval: Duration = .milliseconds(250)

  private func seekNetwork(
    for sharing: SharingAdapter, _ openNetwork: @escaping @AutomergeRepo () async throws -> PeerDirectory?
  ) {
    _ = clock.schedule(after: Self.seekInterval) { [weak self] in
      guard let self, self.session?.hasEnded != true else { return }
      // Usually another process has it.
      guard FileLock.network(of: self.settings.home) != nil else { return self.seekNetwork(for: sharing, openNetwork) }
      Task { @AutomergeRepo in
        do {
          if let directory = try await openNetwork() {
            self.log.notice("This process handles the network now.")
            return sharing.take(directory)
          }
        } catch {
          self.network = nil
          self.log.error("The network could not be taken over: \(error)")
        }
        self.seekNetwork(for: sharing, openNetwork)
      }
    }
  }

  private func joinSiblings(_ repo: Repo, of service: Service, _ parts: ServiceParts) {
    do {
      siblings = try parts.joinSiblings(repo, of: service, on: loop)
    } catch {
      log.error("Other processes of yours cannot be reached: \(error.message)")
    }
  }

  /// Connects to the servers that the person has named.
  private func connect(to servers: SyncServers, for repo: Repo) {
    network?.servers = servers
    repo.add(servers)
  }

  /// Nil if the network is off, or if another process of this store has it.
  private func openNetwork(_ repo: Repo, _ parts: ServiceParts) async throws -> PeerDirectory? {
    guard settings.hasNetwork, let lock = FileLock.network(of: settings.home) else { return nil }
    let provider = try TCPProvider(loop: loop, clock: clock, identity: parts.identity)
    network = Network(lock: lock, provider: provider)
    repo.add(provider)
    let directory = try await PeerDirectory.open(
      repo: repo, provider: provider, grants: parts.grants, storage: parts.storage)
    do {
      let address = try await directory.listen(at: settings.listen)
      log.info("Listening at \(address)")
    } catch {
      log.error("Peers cannot reach us: \(error)")
    }
    // The editor may have exited meanwhile, so that no network is needed.
    guard session?.hasEnded != true else {
      provider.stop()
      return nil
    }
    directory.watchNetwork()
    network?.directory = directory
    return directory
  }

  // MARK: The editor

  private func serve(_ service: Service) throws -> Session {
    let input = try StandardInput(on: loop)
    let output = try StandardOutput(on: loop)
    let traffic = settings.record.flatMap { TrafficRecord(path: $0) }
    let session = Session(service: service) { [weak self] frame in
      traffic?.note("<", frame)
      do {
        try output.write(frame)
      } catch {
        guard let self, let session = self.session, !session.hasEnded else { return }
        self.log.notice("The editor cannot be written to: \(error)")
        session.inputEnded()
      }
    }
    session.onEnd = { [weak self] code in self?.end(code) }
    session.onClientProcess = { [weak self] id in self?.watch(process: id) }
    input.onRead = { bytes in
      AutomergeRepo.assumeIsolated {
        let bytes = Array(bytes)
        traffic?.note(">", bytes)
        session.receive(bytes)
      }
    }
    input.onEnd = { AutomergeRepo.assumeIsolated { session.inputEnded() } }
    input.onClose = { _ in AutomergeRepo.assumeIsolated { session.inputEnded() } }
    for signal in [SIGTERM, SIGINT, SIGHUP] {
      signals.append(
        try SignalWatcher(on: loop, signal: signal) { AutomergeRepo.assumeIsolated { session.inputEnded() } })
    }
    (self.input, self.output, self.session) = (input, output, session)
    input.resumeReading()
    return session
  }

  private func watch(process id: Int32) {
    editor = try? ProcessWatcher(on: loop, processId: Int(id)) { [weak self] in
      AutomergeRepo.assumeIsolated { self?.session?.inputEnded() }
    }
  }

  /// Call when everything is stored. Then sends what is still on its way to the editor and the peers, for a moment at
  /// most.
  private func end(_ code: Int32) {
    exitCode = code
    network?.directory?.stopDiscovery()
    network?.provider.stop()
    network?.servers?.stop()
    siblings?.stop()
    editor?.close()
    for signal in signals { signal.close() }
    input?.onClose = nil
    input?.close()
    let loop = loop
    guard let output, output.isOpen else { return loop.stop() }
    output.onClose = { _ in loop.stop() }
    output.shutdownThenClose()
    _ = clock.schedule(after: .seconds(2)) { loop.stop() }
  }

  private func complain(_ message: String) {
    log.critical("\(message)")
  }
}
