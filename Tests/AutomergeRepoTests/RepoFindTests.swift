import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Looking for documents, and which peers may have them.
struct RepoFindTests {
  @AutomergeRepo
  private final class Policy: ShareAuthorizing {
    var grants: [PeerId: Access] = [:]
    /// Those that may create documents here; nil for all. They are announced to them only.
    var makers: Set<PeerId>?
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool {
      (grants[peer] ?? .none) > .none && mayCreate(document, peer)
    }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { grants[peer] ?? .none }
    func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool { makers?.contains(peer) ?? true }
  }

  private func id() throws -> DocumentId { try #require(DocumentId(bytes: Array(1...16))) }

  @Test @AutomergeRepo func aDocumentThatNoPeerHasIsUnavailable() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    for name in ["a", "b", "c"] { world.start(name) }
    guard case .unavailable? = try await world.find(try id(), at: "a") else {
      Issue.record("alone")
      return
    }
    world.connectAll()
    guard case .unavailable? = try await world.find(try id(), at: "a") else {
      Issue.record("with peers")
      return
    }
    #expect(world.repos.values.allSatisfy { $0.handles.isEmpty })
  }

  @Test @AutomergeRepo func whatAPeerOfAPeerHasIsFound() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let policy = Policy()
    policy.grants = [PeerId("b"): .write]
    let host = world.start("c", policy: policy)
    world.start("a")
    world.start("b")
    world.connect("a", "b")
    let handle = try host.create(try .note("there"))
    world.connect("b", "c")
    let found = try #require(try await world.handle(handle.id, at: "a"))
    #expect(try found.document.content() == "there")
  }

  @Test @AutomergeRepo func aPeerThatDoesNotAnswerTimesOut() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let repo = world.start("a")
    let mute = MutePeer(connectedTo: PeerId("a"), in: world)
    defer { withExtendedLifetime(mute) {} }
    guard case .timedOut? = try await world.find(try id(), at: "a", horizon: .seconds(12)) else {
      Issue.record("not timed out")
      return
    }
    #expect(repo.handles.isEmpty)
  }

  /// The repo "a" looks for a document that it lacks, and its only peer does not answer.
  @AutomergeRepo
  private func worldThatAsksAMutePeer() async throws -> (RepoWorld, DocumentId, MutePeer) {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 8)))
    let repo = world.start("a")
    let mute = MutePeer(connectedTo: PeerId("a"), in: world)
    let id = try id()
    Task { @AutomergeRepo in _ = await repo.find(id) }
    try await world.clock.run(until: "the peer is asked", horizon: .seconds(3)) {
      repo.entries[id]?.handle?.sync.linkedPeers.isEmpty == false
    }
    return (world, id, mute)
  }

  @Test @AutomergeRepo func whatIsMadeOfKeptChangesIsFoundByThoseWhoLookForItAlready() async throws {
    let (world, id, mute) = try await worldThatAsksAMutePeer()
    defer { withExtendedLifetime(mute) {} }
    let repo = try #require(world.repos["a"])
    let kept = try Document.note("kept").save()
    var found: DocHandle?
    Task { @AutomergeRepo in if case .found(let handle) = await repo.find(id) { found = handle } }
    #expect(try repo.make(id, of: kept) != nil)
    try await world.clock.run(until: "it is found", horizon: .seconds(3)) { found != nil }
    let handle = try #require(found)
    #expect(handle === repo.handle(of: id))
    try await world.flush("a")
    world.crash("a")
    world.start("a")
    #expect(try await world.handle(id, at: "a") != nil)
  }

  /// A peer that never answers has nothing to say about a document that the program has.
  @Test @AutomergeRepo func whatAProgramImportsIsHereAtOnceThoughAPeerIsAskedForIt() async throws {
    let (world, id, mute) = try await worldThatAsksAMutePeer()
    defer { withExtendedLifetime(mute) {} }
    let repo = try #require(world.repos["a"])
    let before = world.clock.now
    let handle = try await repo.import(doc: try .note("mine"), id: id)
    #expect(world.clock.now == before)
    #expect(handle === repo.handle(of: id))
    try await world.flush("a")
    world.crash("a")
    world.start("a")
    #expect(try await world.handle(id, at: "a")?.document.content() == "mine")
  }

  @Test(arguments: ["mine", nil]) @AutomergeRepo
  func whatAProgramMakesUnderAnIdThatItLooksForIsFoundAtOnce(text: String?) async throws {
    let (world, id, mute) = try await worldThatAsksAMutePeer()
    defer { withExtendedLifetime(mute) {} }
    let repo = try #require(world.repos["a"])
    let before = world.clock.now
    var found: DocHandle?
    Task { @AutomergeRepo in if case .found(let handle) = await repo.find(id) { found = handle } }
    let handle = try await repo.create(doc: text.map { try .note($0) } ?? Document(), id: id)
    #expect(handle === repo.handle(of: id))
    try await world.clock.run(until: "it is found", horizon: .seconds(3)) { found != nil }
    #expect(found === handle && world.clock.now == before)
    await #expect(throws: RepoError.alreadyExists(id)) { try await repo.create(doc: try .note("again"), id: id) }
    try await world.flush("a")
    world.crash("a")
    world.start("a")
    let stored = try #require(try await world.handle(id, at: "a"))
    #expect(!stored.document.heads().isEmpty)
    #expect(try text == nil || stored.document.content() == "mine")
  }

  /// The store answers the search first, then the one who makes the document.
  @Test @AutomergeRepo func whatIsMadeWhileTheStoreIsAskedForItIsFoundByThoseWhoWait() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
    let (repo, id) = (world.start("a"), try id())
    let store = try #require(world.stores["a"])
    store.holdLoads()
    let search = repo.findWithProgress(id)
    try await world.clock.run(until: "the search reads") { store.heldLoadCount > 1 }
    let reads = store.heldLoadCount
    async let making = repo.create(doc: try .note("mine"), id: id)
    try await world.clock.run(until: "its maker reads") { store.heldLoadCount == 2 * reads }
    store.goOnLoading(reads)
    for _ in 0..<100 { await AutomergeRepo.yield() }
    store.goOnLoading()
    let handle = try await making
    #expect(try handle.document.content() == "mine")
    var outcome: FindOutcome?
    for await progress in search { outcome = progress.outcome ?? outcome }
    guard case .found(let found)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(found === handle)
  }

  /// A search may begin before the document is made and end, without result, at any moment of that.
  @Test(arguments: 0...24) @AutomergeRepo
  func whatIsMadeDuringASearchBelongsToTheRepo(turns: Int) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 13)))
    let (repo, id) = (world.start("a"), try id())
    let search = repo.findWithProgress(id)
    for _ in 0..<turns { await AutomergeRepo.yield() }
    let handle = try await repo.create(doc: try .note("mine"), id: id)
    for await _ in search {}
    #expect(repo.handle(of: id) === handle)
    try await world.flush("a")
    #expect(try await repo.documentIds() == [id])
  }

  @Test(arguments: [false, true]) @AutomergeRepo
  func nothingIsMadeOfADocumentThatIsJustBeingDeleted(isImported: Bool) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 12)))
    let repo = world.start("a")
    let id = try repo.create(try .note("gone")).id
    try await world.flush("a")
    async let deletion: Void = repo.delete(id: id)
    while repo.handle(of: id) != nil { await Task.yield() }
    await #expect(throws: RepoError.deleted(id)) {
      if isImported {
        try await repo.import(doc: try .note("new"), id: id)
      } else {
        try await repo.create(doc: try .note("new"), id: id)
      }
    }
    try await deletion
    #expect(repo.handle(of: id) == nil)
    #expect(try await repo.documentIds().isEmpty)
  }

  @Test @AutomergeRepo func whatIsDeletedStaysDeleted() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let repo = world.start("a")
    let handle = try repo.create(try .note("gone"))
    try await world.flush("a")
    #expect(try await repo.documentIds() == [handle.id])
    try await repo.delete(id: handle.id)
    #expect(try await repo.documentIds().isEmpty)
    guard case .deleted? = try await world.find(handle.id, at: "a") else {
      Issue.record("in the same run")
      return
    }
    world.crash("a")
    world.start("a")
    guard case .deleted? = try await world.find(handle.id, at: "a") else {
      Issue.record("after a restart")
      return
    }
  }

  @Test @AutomergeRepo func aStoreThatCannotBeReadIsNoAnswer() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    world.start("a")
    world.stores["a"]?.failLoads(true)
    guard case .failed? = try await world.find(try id(), at: "a") else {
      Issue.record("not failed")
      return
    }
  }

  @Test @AutomergeRepo func anIdIsUsedOnce() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
    let repo = world.start("a")
    let handle = try repo.create()
    await #expect(throws: RepoError.alreadyExists(handle.id)) { try await repo.create(id: handle.id) }
  }

  @Test @AutomergeRepo func unknownAndRefusedAreAnsweredAlike() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))
    let repo = world.start("a", policy: ShareNothing())
    let handle = try repo.create(try .note("secret"))
    try await world.flush("a")
    world.start("b")
    world.connect("a", "b")
    for id in [handle.id, try id()] {
      var answers: [RepoMessage] = []
      world.network.onDelivery = { message, from, _ in if from == PeerId("a") { answers.append(message) } }
      guard case .unavailable? = try await world.find(id, at: "b") else {
        Issue.record("found")
        return
      }
      #expect(
        answers == [
          .document(.init(senderId: PeerId("a"), targetId: PeerId("b"), documentId: id, content: .unavailable))
        ])
    }
  }

  @Test(arguments: [false, true]) @AutomergeRepo
  func aPeerWhoseDocumentIsNotTakenIsToldSo(writesAfterwards: Bool) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
    let policy = Policy()
    policy.grants = [PeerId("ben"): .write, PeerId("ana"): .write]
    policy.makers = [PeerId("ana")]
    let server = world.start("server", policy: policy)
    let ben = world.start("ben")
    let handle = try ben.create(try .note("milk"))
    world.connect("ben", "server")
    try await world.clock.run(until: "ben is told") { handle.limits(of: PeerId("server")).isLacking }
    #expect(server.handles.isEmpty && !handle.inSync(with: PeerId("server")))
    // Once a peer that may make documents has brought it, they share it.
    let ana = world.start("ana")
    let hers = try await ana.import(doc: handle.document.fork(), id: handle.id)
    try (writesAfterwards ? handle : hers).splice(0, "oat ")
    world.connect("ana", "server")
    // What the server has just taken from one of them has not reached the other when both are in sync with it.
    try await world.clock.run(until: "all have it") {
      [handle, hers].allSatisfy { one in
        one.inSync(with: PeerId("server")) && (try? one.document.content()) == "oat milk"
      }
    }
  }

  @Test @AutomergeRepo func aPeerWhoseDocumentWasNotTakenIsAskedForItOnceItMayCreateIt() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 12)))
    let policy = Policy()
    policy.grants = [PeerId("ben"): .write, PeerId("ana"): .write]
    policy.makers = []
    let server = world.start("server", policy: policy)
    let (ben, ana) = (world.start("ben"), world.start("ana"))
    let handles = [try ben.create(try .note("milk")), try ana.create(try .note("tea"))]
    for name in ["ben", "ana"] { world.connect(name, "server") }
    try await world.clock.run(until: "both are told") {
      handles.allSatisfy { $0.limits(of: PeerId("server")).isLacking }
    }
    policy.makers = [PeerId("ben")]
    server.policyChanged()
    try await world.clock.run(until: "the server has it") { handles[0].inSync(with: PeerId("server")) }
    #expect(server.handles.map(\.id) == [handles[0].id] && !handles[0].limits(of: PeerId("server")).isLacking)
    #expect(handles[1].limits(of: PeerId("server")).isLacking, "ana may still not create any")
  }

  @Test @AutomergeRepo func grantsBeginAndEndSharing() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 8)))
    let policy = Policy()
    let repo = world.start("a", policy: policy)
    let other = world.start("b")
    let handle = try repo.create(try .note("one"))
    world.connect("a", "b")
    world.clock.advance(by: .seconds(1))
    #expect(other.handles.isEmpty)
    policy.grants = [PeerId("b"): .write]
    repo.policyChanged(for: handle.id)
    try await world.clock.run(until: "b has it") { other.handle(of: handle.id) != nil }
    let theirs = try #require(other.handle(of: handle.id))
    try await world.clock.run(until: "in sync") { handle.inSync(with: PeerId("b")) }
    policy.grants = [:]
    repo.policyChanged(for: handle.id)
    try handle.splice(0, "two ")
    try theirs.splice(0, "three ")
    world.clock.advance(by: .seconds(5))
    #expect(try handle.document.content() == "two one")
    #expect(try theirs.document.content() == "three one")
    #expect(handle.peers.isEmpty)
    let before = world.network.deliveredCount
    try theirs.splice(0, "x")
    world.clock.advance(by: .seconds(5))
    #expect(world.network.deliveredCount == before, "a peer that was refused stops sending")
  }

  @Test @AutomergeRepo func readersAreSentEverythingAndChangeNothing() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 9)))
    let policy = Policy()
    policy.grants = [PeerId("b"): .read]
    let repo = world.start("a", policy: policy)
    let reader = world.start("b")
    let handle = try repo.create(try .note("one"))
    world.connect("a", "b")
    try await world.clock.run(until: "b has it") { reader.handle(of: handle.id) != nil }
    let theirs = try #require(reader.handle(of: handle.id))
    try theirs.splice(0, "mine ")
    world.clock.advance(by: .seconds(5))
    #expect(try handle.document.content() == "one")
    try handle.splice(3, " two")
    world.clock.advance(by: .seconds(5))
    #expect(try theirs.document.content() == "mine one two")
    #expect(try handle.document.content() == "one two")
    let before = world.network.deliveredCount
    world.clock.advance(by: .seconds(60))
    #expect(world.network.deliveredCount == before)
    policy.grants = [PeerId("b"): .write]
    repo.policyChanged(for: handle.id)
    try await world.clock.run(until: "allowed to write, it is heard") {
      (try? handle.document.content()) == "mine one two"
    }
  }

  @Test @AutomergeRepo func aSlowStoreIsWaitedFor() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 9)))
    let id = try world.start("a").create(try .note("here")).id
    try await world.flush("a")
    world.crash("a")
    let repo = world.start("a")
    var isOver = false
    let search = Task {
      defer { isOver = true }
      return await repo.search(id)
    }
    while world.clock.nextTime == nil, !isOver { await Task.yield() }
    // The store has not answered: no other code has had a turn since it was asked. On a busy machine it may have.
    world.clock.advance(by: .seconds(60))
    guard case .found(let handle) = await search.value else {
      Issue.record("given up")
      return
    }
    #expect(try handle.document.content() == "here")
  }
}
