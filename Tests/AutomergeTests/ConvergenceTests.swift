import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Replicas that do everything there is to do, at random.
struct ConvergenceTests {
  private func replicas(_ count: Int, _ editor: inout RandomSession) throws -> [Document] {
    let first = try Document(actor: "aa")
    for _ in 0..<10 { try editor.edit(first) }
    return try [first]
      + (1..<count).map { index in
        let fork = first.fork()
        // Actors that sort before and behind the first one.
        try fork.rename("\(index.isMultiple(of: 2) ? "bb" : "0a")\(index)\(index)")
        return fork
      }
  }

  @Test(arguments: SeedCount.part(of: 1...30 as ClosedRange<UInt64>))
  func replicasConvergeInEveryOrderOfMerging(seed: UInt64) throws {
    var editor = RandomSession(seed: seed)
    let replicas = try replicas(3, &editor)
    for step in 0..<60 {
      let replica = replicas[editor.number(0...2)]
      if editor.number(0...7) == 0 {
        try replica.merge(other: replicas[editor.number(0...2)])
      } else {
        try editor.edit(replica)
      }
      if editor.number(0...2) == 0 { replica.commitWith() }
      #expect(replica.brokenInvariant() == nil, "seed \(seed), step \(step)")
    }
    for replica in replicas { replica.commitWith() }
    var expected: (heads: Set<ChangeHash>, value: JSON)?
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let merged = replicas[order[0]].fork()
      for index in order.dropFirst() {
        try merged.merge(other: replicas[index])
        #expect(merged.brokenInvariant() == nil, "seed \(seed)")
      }
      let result = (heads: merged.heads(), value: merged.typedValue())
      #expect(result.heads == (expected ?? result).heads, "seed \(seed), order \(order)")
      #expect(result.value == (expected ?? result).value, "seed \(seed), order \(order)")
      expected = expected ?? result
      let loaded = try Document(merged.save())
      #expect(loaded.heads() == result.heads && loaded.typedValue() == result.value, "seed \(seed)")
      #expect(loaded.saveUncompressed() == merged.saveUncompressed(), "seed \(seed)")
      #expect(loaded.brokenInvariant() == nil, "seed \(seed)")
      // One change at a time, as over a network.
      let applied = Document()
      for change in merged.changes(since: []) { try applied.applyEncodedChanges(encoded: change.bytes) }
      #expect(applied.typedValue() == result.value && applied.brokenInvariant() == nil, "seed \(seed)")
    }
  }

  @Test(arguments: SeedCount.part(of: 1...20 as ClosedRange<UInt64>))
  func whatWasIsWhatIsReadAtItsHeads(seed: UInt64) throws {
    var editor = RandomSession(seed: seed &+ 1000)
    let replicas = try replicas(2, &editor)
    var states: [(heads: Set<ChangeHash>, value: JSON)] = []
    for _ in 0..<25 {
      try editor.edit(replicas[0])
      try editor.edit(replicas[1])
      if editor.number(0...3) == 0 { try replicas[0].merge(other: replicas[1]) }
      if editor.number(0...3) == 0 { try replicas[1].merge(other: replicas[0]) }
      states.append((replicas[0].heads(), replicas[0].typedValue()))
    }
    for state in states {
      #expect(replicas[0].typedValue(at: replicas[0].withCore { $0.past(state.heads) }) == state.value, "seed \(seed)")
      #expect(try replicas[0].forkAt(heads: state.heads).typedValue() == state.value, "seed \(seed)")
    }
  }

  @Test(arguments: SeedCount.part(of: 1...30 as ClosedRange<UInt64>))
  func workingInIsolationIsWorkingInAForkOfThePast(seed: UInt64) throws {
    var editor = RandomSession(seed: seed &+ 2000)
    let replicas = try replicas(2, &editor), document = replicas[0]
    var states: [Set<ChangeHash>] = []
    for _ in 0..<20 {
      try editor.edit(document)
      try editor.edit(replicas[1])
      if editor.number(0...3) == 0 { try document.merge(other: replicas[1]) }
      states.append(document.heads())
    }
    for round in 0..<4 {
      let heads = states[editor.number(0...states.count - 1)]
      let fork = try document.forkAt(heads: heads)
      try document.isolate(heads: heads)
      for step in 0..<8 {
        var copy = editor
        try editor.edit(document)
        try copy.edit(fork)
        let note: Comment = "seed \(seed), round \(round), step \(step)"
        #expect(document.typedValue(at: document.withCore { $0.view }).withoutIds == fork.typedValue().withoutIds, note)
        #expect(document.brokenInvariant() == nil, note)
        #expect(document.length(obj: .ROOT) == fork.length(obj: .ROOT), note)
        if step == 4 {
          // What comes in meanwhile does not show.
          try editor.edit(replicas[1])
          try document.merge(other: replicas[1])
        }
        if step % 3 == 0 {
          document.commitWith()
          fork.commitWith()
        }
      }
      document.integrate()
      let loaded = try Document(document.save()), copy = Document()
      try copy.merge(other: document)
      for each in [loaded, copy] {
        #expect(each.heads() == document.heads(), "seed \(seed), round \(round)")
        #expect(each.typedValue() == document.typedValue(), "seed \(seed), round \(round)")
        #expect(each.brokenInvariant() == nil, "seed \(seed), round \(round)")
      }
    }
  }
}
