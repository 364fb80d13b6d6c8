import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What is known of the store: when it was last written, how far it lags behind, and what is in it.
struct StoredProgressTests {
  @Test @AutomergeRepo func whatChangesDuringASlowWriteHasWaitedSinceItsBeginning() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
    let repo = world.start("a"), clock = world.clock
    let handle = try repo.create(try .note())
    try await world.flush("a")
    #expect(repo.storedLag == .zero)
    let store = try #require(world.stores["a"])
    store.holdSaves(of: handle.id.description)
    try handle.splice(0, "x")
    let changed = clock.now
    try await clock.run(until: "it is written") { store.heldSaveCount == 1 }
    let begun = clock.now
    clock.advance(by: .seconds(5))
    try handle.splice(0, "y")
    clock.advance(by: .seconds(3))
    #expect(repo.storedLag == clock.now - changed)
    let count = repo.commitLatency.count
    store.holdSaves(of: nil)
    try await clock.run(until: "it is stored", horizon: .milliseconds(10)) { repo.commitLatency.count > count }
    #expect(!handle.isStored && repo.storedLag == clock.now - begun)
    try await world.flush("a")
    #expect(handle.isStored && repo.storedLag == .zero)
  }

  @Test @AutomergeRepo func aCommitThatFailsIsCountedWithTheTimeThatItTook() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 13)))
    let repo = world.start("a"), clock = world.clock
    let handle = try repo.create(try .note())
    try await world.flush("a")
    clock.advance(by: .seconds(100))
    let (before, store) = (repo.commitLatency, try #require(world.stores["a"]))
    store.failSaves(1)
    try handle.splice(0, "x")
    try await clock.run(until: "it has failed", horizon: .milliseconds(100)) { repo.commitLatency.count > before.count }
    #expect(!handle.isStored && repo.commitLatency.count == before.count + 1)
    #expect(repo.commitLatency.sum - before.sum < .seconds(1))
  }

  /// Of a document with a damaged chunk, nothing may be merged; each attempt reads all of it.
  @Test @AutomergeRepo func whatCouldNotBeMergedIsTriedAgainWhenAsMuchHasBeenWritten() async throws {
    var random = SeededGenerator(seed: 14)
    let id = DocumentId.random(using: &random), data = Data(count: Compaction.minimumByteCount / 2)
    let compaction = Compaction(id: id, storage: InMemoryStorage(), loaded: nil)
    func write() { compaction.wrote([StoredItem(key: StoredChunks.key(.incremental, id, data), data: data)]) }
    write()
    #expect(!compaction.isDue(textByteCount: 0))
    write()
    #expect(compaction.isDue(textByteCount: 0))
    var results: [Bool] = []
    compaction.start { if case .success(let merged) = $0 { results.append(merged != nil) } }
    await compaction.finish()
    #expect(results == [false] && !compaction.isDue(textByteCount: 0))
    write()
    #expect(!compaction.isDue(textByteCount: 0))
    write()
    #expect(compaction.isDue(textByteCount: 0))
  }

  /// A disk that is almost full takes small writes, and each used to begin another attempt.
  @Test @AutomergeRepo func aMergeThatFailedIsTriedAgainWhenMoreHasBeenWritten() async throws {
    var random = SeededGenerator(seed: 16)
    let id = DocumentId.random(using: &random), storage = FaultyStorage(InMemoryStorage())
    let compaction = Compaction(id: id, storage: storage, loaded: nil)
    func write(_ byteCount: Int) {
      let data = Data(count: byteCount)
      compaction.wrote([StoredItem(key: StoredChunks.key(.incremental, id, data), data: data)])
    }
    write(Compaction.minimumByteCount)
    storage.failLoads(true)
    var failures = 0
    compaction.start { if case .failure = $0 { failures += 1 } }
    await compaction.finish()
    write(100)
    #expect(failures == 1 && !compaction.isDue(textByteCount: 0))
    write(Compaction.minimumByteCount)
    #expect(compaction.isDue(textByteCount: 0))
  }

  /// What is stored at once, because someone waits for it, does not hasten what comes after it.
  @Test @AutomergeRepo func changesAfterAFlushAreGatheredAsLongAsAnyOthers() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 15)))
    let repo = world.start("a"), clock = world.clock
    let handle = try repo.create(try .note())
    try await world.flush("a")
    try handle.splice(0, "x")
    var isFlushed = false
    Task { @AutomergeRepo in
      try await repo.flush()
      isFlushed = true
    }
    try await clock.run(until: "it is stored", horizon: .zero) { isFlushed }
    clock.advance(by: StorageSchedule.gatheringTime / 5)
    try handle.splice(0, "y")
    #expect(!handle.isStored && clock.nextTime == clock.now + StorageSchedule.gatheringTime)
  }

  @Test func onlyTheTimesOfTheLastCommitsAreKept() {
    var log = CommitLog(lossCount: 0)
    let count = 10_000
    for number in 0..<count { log.note(.milliseconds(number)) }
    let kept = log.times.count
    #expect(kept > 100 && kept < count / 2)
    #expect(Set(log.times) == Set((count - kept..<count).map { .milliseconds($0) }))
    #expect(log.latency.count == count)
  }

  @Test func eachTimeIsCountedOnceInItsClass() {
    var histogram = LatencyHistogram(bounds: [.milliseconds(1), .milliseconds(10)])
    for milliseconds in [0, 1, 2, 10, 11, 5000] { histogram.note(.milliseconds(milliseconds)) }
    #expect(histogram.counts == [2, 2, 2] && histogram.count == 6)
    #expect(histogram.sum == .milliseconds(5024))
  }

  @Test func theNamesBelowAKeyAreThoseOfNoOtherKey() async throws {
    let storage = InMemoryStorage()
    for key in [
      ["a", "b"], ["a", "b", "one"], ["a", "b", "two", "deep"], ["a", "x", "other"], ["b", "b", "other"],
    ] {
      try await storage.save(key, Data())
    }
    #expect(try await storage.children(of: ["a", "b"]).sorted() == ["one", "two"])
    #expect(try await storage.children(of: ["a"]).sorted() == ["b", "x"])
    #expect(try await storage.children(of: ["a", "b", "one"]) == [])
    #expect(try await storage.children(of: ["c"]) == [])
  }

  /// Its heads are no longer compared with those that peers have.
  @Test @AutomergeRepo func aDeletedDocumentIsInNoCatalogue() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 12)))
    let repo = world.start("a")
    world.start("b")
    let handles = try (0..<2).map { try repo.create(try .note("note \($0)")) }
    let ids = handles.map(\.id)
    try await world.flush("a")
    // From now on it knows what its store has.
    world.connect("a", "b")
    try await world.clock.run(until: "b has both") { ids.allSatisfy { world.repos["b"]?.handle(of: $0) != nil } }
    world.clock.advance(by: .seconds(2))
    // What b says would bring the document back.
    world.network.isLost = { _, from, _ in from == PeerId("b") }
    var digests: [CBOR?] = []
    world.network.onDelivery = { message, _, _ in
      if case .other("catalogue", let fields) = message { digests.append(fields["digest"]) }
    }
    var isDeleted = false
    Task { @AutomergeRepo in
      try await repo.delete(id: ids[0])
      isDeleted = true
    }
    try await world.clock.run(until: "it is deleted") { isDeleted }
    repo.checkForStalls()
    world.clock.advance(by: .seconds(1))
    var catalogue = Catalogue()
    let heads = handles[1].document.heads()
    catalogue.add(ids[1], heads, hash: Catalogue.hash(ids[1], heads))
    #expect(digests == [.bytes(catalogue.digest)])
  }
}
