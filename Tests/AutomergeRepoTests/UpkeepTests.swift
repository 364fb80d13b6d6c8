import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What is done at intervals costs in proportion to what has happened, and not to what exists.
struct UpkeepTests {
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo
  func checksLookOnlyAtWhatSomethingHasHappenedToOrIsNotWell() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))
    let (a, b) = (world.start("a"), world.start("b"))
    world.connect("a", "b")
    // More than one turn's worth.
    let count = Upkeep.documentsPerTurn + 10
    let notes = try (0..<count).map { _ in try a.create(try .note("hello")) }
    try await world.clock.run(until: "in sync", horizon: .seconds(60)) {
      notes.allSatisfy { $0.inSync(with: b.peerId) }
    }
    #expect(a.upkeep.dueCount == count)
    a.checkForStalls()
    world.clock.advance(by: .seconds(30))
    #expect(a.upkeep.dueCount == 0)
    // Nothing reaches b, whose heads are others from then on.
    world.network.isLost = { _, _, _ in true }
    try notes[3].splice(0, "lost ")
    world.clock.advance(by: .seconds(1))
    #expect(a.upkeep.dueCount == 1)
    a.checkForStalls()
    #expect(a.upkeep.dueCount == 1, "it is not well")
    world.network.isLost = nil
    for _ in 1...4 {
      a.checkForStalls()
      world.clock.advance(by: .seconds(30))
    }
    #expect(notes[3].inSync(with: b.peerId))
    #expect(a.upkeep.dueCount == 0)
  }

  /// Shares lists of documents, as a person's grants do.
  private final class Lists: ShareAuthorizing {
    var lists: [PeerId: Set<DocumentId>] = [:]
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { lists[peer]?.contains(document) ?? false }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { .write }
    func documents(sharedWith peer: PeerId) -> [DocumentId]? { Array(lists[peer] ?? []) }
  }

  @Test(arguments: SeedCount.part(of: 1...8)) @AutomergeRepo func whatIsCountedBitByBitIsWhatIsShared(seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let lists = Lists()
    let repo = world.start("a", policy: lists)
    for name in ["b", "c"] {
      world.start(name, policy: SharePolicy.agreeable)
      world.connect("a", name)
    }
    var ids: [DocumentId] = []
    for step in 0..<60 {
      let id = ids.randomElement(using: &random)
      switch (Int.random(in: 0..<10, using: &random), id) {
      case (0...2, _), (_, nil): ids.append(try repo.create(try .note("note \(step)")).id)
      case (3...4, let id?):
        let peer = PeerId(["b", "c"].randomElement(using: &random) ?? "b")
        if lists.lists[peer, default: []].remove(id) == nil { lists.lists[peer, default: []].insert(id) }
        repo.policyChanged(for: id)
      case (5...6, let id?): try await world.handle(id, at: "a")?.splice(0, "x")
      case (7, _):
        try await world.flush("a")
        for id in ids { _ = repo.release(id) }
      case (8, let id?):
        let box = Box()
        Task {
          try? await repo.delete(id: id); box.isDone = true
        }
        try await world.clock.run(until: "deleted") { box.isDone }
        ids.removeAll { $0 == id }
      default:
        world.disconnect("a", "b")
        world.clock.advance(by: .milliseconds(10))
        world.connect("a", "b")
      }
      repo.checkForStalls()
      world.clock.advance(by: .milliseconds(Int64.random(in: 0...500, using: &random)))
      repo.upkeep.catalogues.checkInvariants()
    }
  }

  @AutomergeRepo private final class Box { var isDone = false }
}
