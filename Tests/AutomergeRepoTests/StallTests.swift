import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// A network that loses messages silently, which no transport of ours does, and what heals it.
struct StallTests {
  @Test(arguments: SeedCount.part(of: 1...20)) @AutomergeRepo func whatWasLostSilentlyIsHealedByTheChecks(seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    for name in ["a", "b"] { world.start(name) }
    world.connect("a", "b")
    let mine = try #require(world.repos["a"]).create(try .note("hello"))
    try await world.clock.run(until: "b has it") { world.repos["b"]?.handle(of: mine.id) != nil }
    let theirs = try #require(world.repos["b"]?.handle(of: mine.id))
    world.clock.advance(by: .seconds(1))
    world.network.isLost = { _, _, _ in Bool.random(using: &random) }
    for round in 0..<10 {
      try mine.splice(0, "\(round)")
      try theirs.splice(0, "x")
      world.clock.advance(by: .milliseconds(100))
    }
    world.network.isLost = nil
    // A sync that the losses have made repeat itself forever must not do so for long here.
    world.clock.advance(by: .seconds(1))
    // One look notices, the next one starts again.
    for _ in 1...6 where mine.document.heads() != theirs.document.heads() {
      for repo in world.repos.values { repo.checkForStalls() }
      world.clock.advance(by: .seconds(1))
    }
    #expect(mine.document.heads() == theirs.document.heads(), "seed \(seed)")
    #expect(try mine.document.content()?.count == 25, "seed \(seed)")
  }

  @Test @AutomergeRepo func checksAreSilentWhereAllIsWell() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    for name in ["a", "b"] { world.start(name) }
    world.connect("a", "b")
    let mine = try #require(world.repos["a"]).create(try .note("hello"))
    try await world.clock.run(until: "in sync") { mine.inSync(with: PeerId("b")) }
    // What has come since they met is told once.
    for repo in world.repos.values { repo.checkForStalls() }
    world.clock.advance(by: .seconds(1))
    let before = world.network.deliveredCount
    for _ in 0..<10 {
      for repo in world.repos.values { repo.checkForStalls() }
      world.clock.advance(by: .seconds(30))
    }
    #expect(world.network.deliveredCount == before)
  }
}
