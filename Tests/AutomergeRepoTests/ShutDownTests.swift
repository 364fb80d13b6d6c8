import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// The end of a repo.
struct ShutDownTests {
  /// A network that only counts.
  @AutomergeRepo
  private final class CountingProvider: NetworkProvider {
    private(set) var starts = 0
    func start(as local: LocalPeer, delegate: any NetworkDelegate) { starts += 1 }
    func stop() {}
    func send(_ message: RepoMessage, to peer: PeerId) {}
    func disconnect(_ peer: PeerId) {}
  }

  @AutomergeRepo
  private final class End {
    private(set) var isDone = false
    private(set) var error: StorageError?

    init(of repo: Repo) {
      Task {
        do throws(StorageError) { try await repo.shutDown() } catch { self.error = error }
        isDone = true
      }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>) @AutomergeRepo
  func whatWasMadeRightBeforeShutDownReachesThePeers(seed: UInt64) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let ana = world.start("a"), ben = world.start("b")
    world.connectAll()
    let known = try ana.create(try .note("known"))
    _ = try #require(try await world.handle(known.id, at: "b"))
    let new = try ana.create(try .note(String(repeating: "new ", count: 10_000)))
    try known.splice(0, "well ")
    // Also what was written past the handle.
    try known.document.put(obj: .ROOT, key: "x", value: .Int(1))
    let end = End(of: ana)
    try await world.clock.run(until: "the repo is shut down") { end.isDone }
    #expect(end.error == nil)
    #expect(ben.handle(of: new.id)?.document.heads() == new.document.heads())
    #expect(ben.handle(of: known.id)?.document.heads() == known.document.heads())
    // What came meanwhile is stored, too.
    #expect(known.isStored && new.isStored)
  }

  @Test @AutomergeRepo func nothingWaitsForPeersThatHaveEverything() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let ana = world.start("a")
    world.start("b")
    let handle = try ana.create(try .note("known"))
    world.connectAll()
    try await world.clock.run(until: "both are equal and stored") { handle.inSync(with: "b") && handle.isStored }
    // No time passes.
    try await ana.shutDown()
  }

  @Test @AutomergeRepo func nothingWaitsForPeersThatWantNothing() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let ana = world.start("a")
    world.start("b", policy: ShareNothing())
    let handle = try ana.create(try .note("known"))
    world.connectAll()
    try await world.clock.run(until: "the other has declined, and all is stored") {
      handle.isStored && handle.sync.links.allSatisfy(\.isLacking)
    }
    try await ana.shutDown()
  }

  @Test @AutomergeRepo func aPeerThatDoesNotAnswerDelaysShutDownByTheLimit() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let ana = world.start("a")
    let mute = MutePeer(connectedTo: PeerId("a"), in: world)
    defer { withExtendedLifetime(mute) {} }
    let handle = try ana.create(try .note("unheard"))
    try await world.clock.run(until: "stored") { handle.isStored }
    let start = world.clock.now, end = End(of: ana)
    try await world.clock.run(until: "the repo is shut down") { end.isDone }
    #expect(world.clock.now - start == Repo.maximumFarewell)
    #expect(ana.connections.isStopped)
  }

  @Test @AutomergeRepo func aPeerThatLeavesIsNotWaitedFor() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    let ana = world.start("a")
    let mute = MutePeer(connectedTo: PeerId("a"), in: world)
    defer { withExtendedLifetime(mute) {} }
    let handle = try ana.create(try .note("unheard"))
    try await world.clock.run(until: "stored") { handle.isStored }
    let end = End(of: ana)
    while ana.upkeep.farewell == nil { await Task.yield() }
    world.network.disconnect(PeerId("a"), PeerId("mute"))
    while !end.isDone { await Task.yield() }
  }

  @Test @AutomergeRepo func sequencesOfUpdatesEnd() async throws {
    let repo = Repo(storage: InMemoryStorage())
    let handle = try repo.create(try .note("known"))
    let peers = repo.peerUpdates(), states = handle.statusUpdates(), messages = handle.ephemeralMessages()
    try await repo.shutDown()
    var last: DocumentStatus?
    for await _ in peers {}
    for await state in states { last = state }
    for await _ in messages {}
    #expect(last?.isDeleted == false)
    // So do those that begin now.
    for await _ in handle.statusUpdates() {}
    for await _ in repo.peerUpdates() {}
  }

  @Test @AutomergeRepo func aNetworkIsStartedOnce() async throws {
    let repo = Repo(), network = CountingProvider(), late = CountingProvider()
    repo.add(network)
    repo.add(network)
    try await repo.shutDown()
    repo.add(late)
    #expect(network.starts == 1 && late.starts == 0)
  }

  @Test @AutomergeRepo func aRepoThatIsDroppedStoresWhatWasMade() async throws {
    let (clock, storage) = (ManualClock(), InMemoryStorage())
    func make() throws -> DocumentId {
      let repo = Repo(storage: storage, clock: clock)
      let handle = try repo.create(try .note("dropped"))
      try handle.splice(0, "also ")
      return handle.id
    }
    let id = try make()
    clock.advance(by: .milliseconds(50))
    let deadline = ContinuousClock.now + Patience.hang
    var stored: Document?
    while stored == nil, ContinuousClock.now < deadline {
      await AutomergeRepo.yield()
      stored = try await StoredChunks.load(id, from: storage).document
    }
    #expect(try stored?.content() == "also dropped")
  }

  @Test @AutomergeRepo func aHandleWithoutARepoDatesItsChangesNow() throws {
    let handle = DocHandle(id: try #require(DocumentId(bytes: Array(1...16))), doc: Document())
    let before = Date()
    handle.change { try? $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    let change = try #require(handle.document.heads().first.flatMap { handle.document.change(hash: $0) })
    // Kept in seconds.
    #expect(change.timestamp > before.addingTimeInterval(-2) && change.timestamp <= Date())
  }
}
