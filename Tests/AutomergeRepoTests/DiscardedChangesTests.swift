import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// A guest returns to its host's state if the host refuses what was typed.
@Suite(.serialized) @AutomergeRepo struct DiscardedChangesTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
}

extension DiscardedChangesTests {
  /// A policy that lets one peer read, and all others write.
  private final class ReadersPolicy: ShareAuthorizing {
    var readers: Set<PeerId> = []
    nonisolated init() {}
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { readers.contains(peer) ? .read : .write }
  }

  @Test func theDocumentsAreEqualAgainInMemoryAndInTheStoreAndGoOn() async throws {
    let policy = ReadersPolicy()
    let host = world.start("host", policy: policy)
    world.start("guest")
    world.connect("host", "guest")
    let note = try host.create(Document.note("milk"))
    let copy = try #require(try await world.handle(note.id, at: "guest"))
    try await world.clock.run(until: "equal") { copy.inSync(with: PeerId("host")) }
    policy.readers = [PeerId("guest")]
    host.policyChanged()
    try copy.splice(0, "never taken ")
    try await world.clock.run(until: "refused") { copy.isRefused(by: PeerId("host")) || note.refuses(PeerId("guest")) }
    #expect(!copy.inSync(with: PeerId("host")))

    let mine = Set(copy.document.changes(since: note.document.heads()).map(\.hash))
    var heard: [String] = []
    copy.observe { event in
      if case .discarding = event { heard.append((try? copy.document.content()) ?? "") }
      if case .discarded = event { heard.append((try? copy.document.content()) ?? "") }
    }
    #expect(try copy.discard(mine, goingOnAs: ActorId()) == mine)
    #expect(heard == ["never taken milk", "milk"])
    #expect(copy.document.heads() == note.document.heads())
    try await world.clock.run(until: "in sync") {
      copy.inSync(with: PeerId("host")) && note.inSync(with: PeerId("guest"))
    }
    try await world.flush("guest")
    try note.splice(0, "oat ")
    try await world.clock.run(until: "the host's word") { (try? copy.document.content()) == "oat milk" }
    policy.readers = []
    host.policyChanged()
    try copy.splice(0, "fresh ")
    try await world.clock.run(until: "the guest's word") { (try? note.document.content()) == "fresh oat milk" }

    // What was discarded does not come back out of the store.
    try await world.flush("guest")
    world.crash("guest")
    world.crash("host")
    world.start("guest")
    let stored = try #require(try await world.handle(note.id, at: "guest"))
    #expect(try stored.document.content() == "fresh oat milk")
    #expect(stored.document.unknown(mine) == mine)
  }

  /// The host says only once that it refuses the guest's changes.
  @Test func whatComesBackAfterItWasDiscardedIsKnownToBeRefusedAtOnce() async throws {
    let policy = ReadersPolicy()
    let (host, peer) = (world.start("host", policy: policy), PeerId("host"))
    world.start("guest")
    world.connect("host", "guest")
    let note = try host.create(Document.note("milk"))
    let copy = try #require(try await world.handle(note.id, at: "guest"))
    try await world.clock.run(until: "equal") { copy.inSync(with: peer) }
    let before = copy.document.heads()
    policy.readers = [PeerId("guest")]
    host.policyChanged()
    try copy.splice(0, "never taken ")
    let kept = copy.document.fork()
    try await world.clock.run(until: "refused") { copy.isRefused(by: peer) }
    for _ in 0..<2 {
      try copy.discard(Set(copy.document.changes(since: before).map(\.hash)), goingOnAs: ActorId())
      try await world.clock.run(until: "in sync") { copy.inSync(with: peer) && note.inSync(with: PeerId("guest")) }
      world.clock.advance(by: .seconds(1))
      // Another process of the guest had no word of it.
      try copy.merge(kept)
      #expect(copy.isRefused(by: peer))
      world.clock.advance(by: .seconds(1))
      #expect(copy.isRefused(by: peer))
    }
    policy.readers = []
    host.policyChanged()
    try await world.clock.run(until: "taken") { note.document.heads() == copy.document.heads() }
    #expect(try note.document.content() == "never taken milk")
  }

  @Test func whatAnotherProcessHasStoredStaysInTheStore() async throws {
    let repo = world.start("guest")
    let note = try repo.create(Document.note("milk"))
    try await world.flush("guest")
    let before = note.document.heads()
    let second = Repo(
      peerId: PeerId("second"), storage: repo.storage, clock: world.clock,
      random: RandomSource(SeededGenerator(seed: 2)))
    guard case .found(let other) = await second.find(note.id) else {
      Issue.record("the note is stored")
      return
    }
    try other.splice(0, "oat ")
    let flushing = Task { try await other.flush() }
    try await world.clock.run(until: "stored") { other.isStored }
    try await flushing.value
    try note.splice(0, "never taken ")
    let mine = Set(note.document.changes(since: before).map(\.hash))
    try await world.flush("guest")
    try note.discard(mine, goingOnAs: ActorId())
    try await world.flush("guest")
    world.crash("guest")
    world.start("guest")
    let stored = try #require(try await world.handle(note.id, at: "guest"))
    #expect(try stored.document.content() == "oat milk")
  }

  /// A guest's note with words that are discarded, and what a journal and an older chunk still have of them.
  private func discarded() async throws -> (note: DocHandle, mine: Set<ChangeHash>, kept: Data, chunks: [StoredItem]) {
    let repo = world.start("guest")
    let note = try repo.create(Document.note("milk"))
    try await world.flush("guest")
    let before = note.document.heads()
    try note.splice(0, "never taken ")
    let mine = Set(note.document.changes(since: before).map(\.hash))
    let kept = try note.document.encodeChangesSince(heads: before)
    try await world.flush("guest")
    let chunks = try await repo.storage?.loadRange([note.id.description, "incremental"]) ?? []
    try note.discard(mine, goingOnAs: ActorId())
    try await world.flush("guest")
    return (note, mine, kept, chunks)
  }

  @Test func whatWasCommittedIsStoredThoughTheMergeAfterItFails() async throws {
    let repo = world.start("guest")
    let note = try repo.create(Document.note("milk"))
    try await world.flush("guest")
    let before = note.document.heads()
    try note.splice(0, "never taken ")
    try await world.flush("guest")
    try note.discard(Set(note.document.changes(since: before).map(\.hash)), goingOnAs: ActorId())
    world.stores["guest"]?.failLoads(true)
    try await world.flush("guest")
    #expect(note.isStored && note.storageProblem != nil)
    // The merge is tried again.
    world.stores["guest"]?.failLoads(false)
    try await world.clock.run(until: "the store is well") { note.storageProblem == nil }
    #expect(try await repo.storage?.loadRange([note.id.description, "incremental"]) == [])
    #expect(try await restarted(note.id).document.content() == "milk")
  }

  private func restarted(_ id: DocumentId) async throws -> DocHandle {
    world.crash("guest")
    world.start("guest")
    return try #require(try await world.handle(id, at: "guest"))
  }

  @Test func whatWasDiscardedComesBackNeitherOutOfAJournalNorOutOfAnOlderChunk() async throws {
    let (note, _, kept, chunks) = try await discarded()
    #expect(!chunks.isEmpty)
    var stored = try await restarted(note.id)
    try stored.take(kept)
    #expect(try stored.document.content() == "milk")
    try await world.repos["guest"]?.storage?.commit(chunks.map { .save($0) })
    stored = try await restarted(note.id)
    #expect(try stored.document.content() == "milk")
    // The chunk is merged into one without them.
    try await world.flush("guest")
    let left = try await world.repos["guest"]?.storage?.loadRange([note.id.description, "incremental"])
    #expect(left == [])
  }

  @Test func changesThatWereNotDiscardedStayWithTheirDeps() async throws {
    let (note, mine, kept, _) = try await discarded()
    let other = note.document.fork()
    try other.applyEncodedChanges(encoded: kept)
    let text = try #require(try other.contentId())
    try other.spliceText(obj: text, start: 0, delete: 0, value: "later and ")
    other.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    let stored = try await restarted(note.id)
    try stored.take(try other.encodeChangesSince(heads: note.document.heads()))
    #expect(try stored.document.content() == "later and never taken milk")
    #expect(stored.document.unknown(mine).isEmpty)
    try await world.flush("guest")
    #expect(try await restarted(note.id).document.content() == "later and never taken milk")
  }

  @Test func whatAnotherPersonBringsAgainStaysAfterARestart() async throws {
    let (note, _, kept, _) = try await discarded()
    let other = note.document.fork()
    try other.applyEncodedChanges(encoded: kept)
    try note.merge(other)
    try await world.flush("guest")
    #expect(try await restarted(note.id).document.content() == "never taken milk")
  }

  @Test(arguments: [false, true]) func aCrashAfterTheAnnouncementLeavesThemOut(isTakenBack: Bool) async throws {
    let repo = world.start("guest")
    let note = try repo.create(Document.note("milk"))
    let before = note.document.heads()
    try note.splice(0, "never taken ")
    try await world.flush("guest")
    let mine = Set(note.document.changes(since: before).map(\.hash))
    try await note.announceDiscarding(mine, with: [])
    if isTakenBack { try await note.keepAnnounced(mine) }
    #expect(try await restarted(note.id).document.content() == (isTakenBack ? "never taken milk" : "milk"))
  }
}
