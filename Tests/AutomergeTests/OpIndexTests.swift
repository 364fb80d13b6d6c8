import TestSupport
import Testing

@testable import Automerge

/// Where elements stand, compared with a plain list of every counter.
struct OpIndexTests {
  @Test(arguments: SeedCount.part(of: UInt64(1)...12)) func everyCounterHasTheLeafItWasAssignedLast(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var stretches = OpStretches(), leaves: [UInt32?] = Array(repeating: nil, count: 6000)
    // Few leaves join often; many make more stretches than one block holds.
    let leafCount: UInt32 = seed.isMultiple(of: 2) ? 3 : 5000
    var end = 1
    for step in 0..<4000 {
      let isNew = Bool.random(using: &random) && end < 5900
      let start = isNew ? end : Int.random(in: 1...max(end - 1, 1), using: &random)
      let last = min(start + Int.random(in: 1...(step % 50 == 0 ? 400 : 4), using: &random), isNew ? 5990 : max(end, 2))
      let leaf = UInt32.random(in: 0..<leafCount, using: &random)
      stretches.assign(UInt32(start), to: UInt32(last), leaf: leaf)
      for counter in start..<last { leaves[counter] = leaf }
      end = max(end, last)
      if step % 97 == 0 { Self.compare(stretches, leaves, end: end, "seed \(seed), step \(step)") }
    }
    Self.compare(stretches, leaves, end: end, "seed \(seed)")
  }

  private static func compare(_ stretches: OpStretches, _ leaves: [UInt32?], end: Int, _ note: Comment) {
    for counter in 1..<end {
      if let leaf = leaves[counter], stretches.leaf(of: UInt32(counter)) != leaf {
        Issue.record("counter \(counter) is not in leaf \(leaf); \(note)")
        return
      }
    }
    let starts = stretches.all.map(\.start)
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $0 < $1 }, note)
    #expect(stretches.leaf(of: 0) == nil, note)
  }

  /// Room for all actors before these would be more than any machine has, and each sequence has an index of its own.
  @Test func anIndexTakesNoRoomForActorsThatAreNotInIt() {
    var index = OpIndex.made
    for actor in [3, 15, 16, 4_000_000_000] as [UInt32] {
      index.assign(OpId(counter: 5, actor: actor), count: 2, leaf: actor)
    }
    index.add(OpStretches([OpStretches.Stretch(start: 1, leaf: 7)], known: 9), actor: 3_000_000_000)
    for actor in [3, 15, 16, 4_000_000_000] as [UInt32] {
      #expect(index.leaf(of: OpId(counter: 6, actor: actor)) == actor)
    }
    #expect(index.leaf(of: OpId(counter: 4, actor: 3_000_000_000)) == 7)
    for actor in [0, 14, 17, 99] as [UInt32] { #expect(index.leaf(of: OpId(counter: 5, actor: actor)) == nil) }
  }

  @Test(arguments: UInt64(1)...5) func actorsKeepTheirOrderHoweverManyComeBetween(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let actors = ActorTable()
    for number in 0..<600 {
      // Some at random, some each time just before or behind the one before.
      let bytes: [UInt8] =
        switch number % 3 {
        case 0: (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
        case 1: [128, 128] + Array(repeating: 0, count: number / 3 % 100)
        default: [128, 127] + Array(repeating: 255, count: number / 3 % 100)
        }
      _ = actors.index(of: ActorId(bytes: bytes))
    }
    let inOrder = actors.actors.indices.sorted { actors.actors[$0] < actors.actors[$1] }.map { UInt32($0) }
    #expect(actors.sorted == inOrder, "seed \(seed)")
    for (left, right) in zip(inOrder, inOrder.dropFirst()) {
      #expect(
        actors.precedes(OpId(counter: 7, actor: left), OpId(counter: 7, actor: right)), "seed \(seed)")
    }
  }
}
