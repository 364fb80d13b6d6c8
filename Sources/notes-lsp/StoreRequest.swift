import AutomergeRepo
import Foundation
import JSONRPC
import NotesServer
import PeerNetwork
import PeerTransport
import SQLiteStorage
import Store
import SyncServer
import UV
import WebSocketNetwork

/// The notes of a store, for a command that changes them while editors may be running: a service without an editor and
/// without a network, which tells the other processes of this person what it did.
@AutomergeRepo
final class StoreRequest {
  typealias Work = @AutomergeRepo @Sendable (Session) async throws -> JSONValue

  /// How long to wait for other processes: to connect, and to receive the result.
  private static let maximumWait: Duration = .seconds(2)

  private let options: StoreOptions
  private let loop: Loop
  private let clock: LoopClock
  private var outcome: Result<JSONValue, Failure>?

  private init(options: StoreOptions, loop: Loop) {
    (self.options, self.loop) = (options, loop)
    clock = LoopClock(loop)
  }

  /// Runs `work` and returns its result when it is stored. Must be called on the main thread.
  nonisolated static func run(_ options: StoreOptions, _ work: @escaping Work) throws -> JSONValue {
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    let request = AutomergeRepo.assumeIsolated {
      let request = StoreRequest(options: options, loop: loop)
      request.start(work)
      return request
    }
    loop.run()
    let outcome = AutomergeRepo.assumeIsolated { request.outcome }
    loop.closeHandles()
    return try outcome?.get() ?? .null
  }

  private func start(_ work: @escaping Work) {
    Task { @AutomergeRepo in
      do {
        outcome = .success(try await perform(work))
      } catch let failure as Failure {
        outcome = .failure(failure)
      } catch let error as ResponseError {
        outcome = .failure(Failure(message: error.message))
      } catch let error as StorageError {
        outcome = .failure(Failure(storeIn: options.homeDirectory, error))
      } catch {
        outcome = .failure(Failure(message: "\(error)"))
      }
      loop.stop()
    }
  }

  private func perform(_ work: Work) async throws -> JSONValue {
    let home = options.homeDirectory
    let storage = try await SQLiteStore.open(
      directory: URL(fileURLWithPath: home, isDirectory: true), rebuilding: false)
    guard !storage.isReadOnly else { throw Failure(message: "The store in \(home) is not writable.") }
    let parts = try await ServiceParts.load(
      from: storage, home: home, name: options.givenName, login: options.loginName, clock: clock)
    let servers = try await SyncServers.load(
      from: storage, sealedBy: TokenSeal(parts.identity), sockets: WebSocketProvider(loop: loop, clock: clock))
    let repo = parts.repo(documents: storage, policy: PublishingPolicy(granted: parts.grants, servers: servers))
    repo.signer = parts.identity.signer
    let siblings = try UnixSocketProvider(home: home, loop: loop, clock: clock)
    defer { siblings.stop() }
    await connect(siblings, to: repo)
    let sharing = SharingAdapter(grants: parts.grants, clock: clock)
    sharing.use(servers, of: repo)
    sharing.reasonForNoNetwork = "it needs an editor with a note open"
    sharing.wantsNetwork = true
    sharing.home = home
    let service = parts.service(of: repo, sharing: sharing, folder: options.notesFolder)
    try await service.load()
    await service.settleJournals()
    let session = Session(service: service) { _ in }
    let result = try await work(session)
    try await repo.flush()
    await service.settleName()
    await deliver(repo)
    return result
  }

  /// Returns when this process has found the others, or knows that it is the first.
  private func connect(_ siblings: UnixSocketProvider, to repo: Repo) async {
    let news = Signal(clock: clock)
    siblings.onHub = { news.send() }
    let observation = repo.observe { event in
      if case .siblingConnected = event { news.send() }
    }
    defer { observation.cancel() }
    repo.add(siblings)
    await news.wait(within: Self.maximumWait) { siblings.isHub || !repo.siblings.isEmpty }
  }

  /// Returns when the other processes have all that this one has.
  private func deliver(_ repo: Repo) async {
    let news = Signal(clock: clock)
    var observations = repo.handles.map { $0.observe { _ in news.send() } }
    observations.append(
      repo.observe { event in
        if case .documentOpened(let handle) = event { observations.append(handle.observe { _ in news.send() }) }
        news.send()
      })
    defer { for observation in observations { observation.cancel() } }
    await news.wait(within: Self.maximumWait) {
      repo.handles.allSatisfy { handle in repo.siblings.allSatisfy { handle.inSync(with: $0) } }
    }
  }
}
