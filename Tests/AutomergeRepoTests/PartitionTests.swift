import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// Networks that split and heal while people type, and machines that sleep.
struct PartitionTests {
  /// Three people who type in one note, and how long healing took.
  @AutomergeRepo
  private final class Trio {
    let world: RepoWorld
    let names = ["a", "b", "c"]
    private(set) var handles: [DocHandle] = []
    private(set) var written = 0
    private(set) var pauses: [Duration] = []

    init(seed: UInt64) async throws {
      world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
      for name in names { world.start(name) }
      let first = try #require(world.repos["a"]).create(try .note("start"))
      world.connectAll()
      try await world.clock.run(until: "everybody has it") { [world] in
        ["b", "c"].allSatisfy { world.repos[$0]?.handle(of: first.id) != nil }
      }
      handles = try names.map { try #require(world.repos[$0]?.handle(of: first.id)) }
    }

    func type(using random: inout SeededGenerator) throws {
      for _ in 0..<Int.random(in: 3...20, using: &random) {
        try handles[Int.random(in: 0..<3, using: &random)].splice(0, "x")
        written += 1
        world.clock.advance(by: .milliseconds(Int.random(in: 0...60, using: &random)))
      }
    }

    func heal(_ what: String) async throws {
      world.network.isLost = nil
      world.connectAll()
      let start = world.clock.now
      // They go on typing while it heals.
      for handle in handles { try handle.splice(0, "y") }
      written += 3
      try await world.clock.run(until: what, horizon: .seconds(20)) { [handles] in
        Set(handles.map { $0.document.heads() }).count == 1
      }
      pauses.append(world.clock.now - start)
    }

    func checkText(_ what: String) throws {
      for handle in handles { #expect(try handle.document.content()?.count == 5 + written, "\(what)") }
    }
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo
  func sixtyPartitionsUnderTypingHealWithinTwoSeconds() async throws {
    let seed: UInt64 = 60
    var random = SeededGenerator(seed: seed)
    let trio = try await Trio(seed: seed)
    for round in 0..<60 {
      let victim = Int.random(in: 0..<3, using: &random)
      let (one, other) = (PeerId(trio.names[victim]), PeerId(trio.names[(victim + 1) % 3]))
      let isOneWay = round % 3 == 2
      if isOneWay {
        // What one says does not arrive; in the end the link breaks.
        trio.world.network.isLost = { _, from, to in from == one && to == other }
      } else {
        trio.world.network.disconnectAll(of: one)
      }
      try trio.type(using: &random)
      if isOneWay { trio.world.network.disconnect(one, other) }
      try await trio.heal("round \(round), seed \(seed)")
      try trio.checkText("round \(round), seed \(seed)")
    }
    let longest = trio.pauses.max() ?? .zero
    print(
      "60 partitions, 20 of them one-way, links of up to 30 ms: the slowest was healed after \(longest), 0 of \(trio.written) edits lost"
    )
    #expect(longest < .seconds(2), "seed \(seed)")
  }

  /// The lid is closed: nothing arrives or leaves for hours, and no peer has said goodbye.
  @Test @AutomergeRepo func aLaptopThatSleptCatchesUp() async throws {
    let seed: UInt64 = 61
    var random = SeededGenerator(seed: seed)
    let trio = try await Trio(seed: seed)
    for round in 0..<5 {
      let sleeper = PeerId(trio.names[round % 3])
      trio.world.network.isLost = { _, from, to in from == sleeper || to == sleeper }
      try trio.handles[round % 3].splice(0, "z")
      try trio.type(using: &random)
      trio.world.clock.advance(by: .seconds(8 * 3600))
      trio.world.network.disconnectAll(of: sleeper)
      try await trio.heal("round \(round), seed \(seed)")
    }
    #expect((trio.pauses.max() ?? .zero) < .seconds(2))
    let texts = Set(try trio.handles.map { try $0.document.content() })
    #expect(texts.count == 1 && texts.first??.count == 5 + trio.written + 5)
  }
}
