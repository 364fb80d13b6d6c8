import Foundation
import Synchronization
import Testing

@testable import Automerge

/// Two threads and two documents: one thread makes a change while the other merges.
struct MergeWhileChangingTests {
  /// How far the two threads have come.
  private final class Turns: Sendable {
    let begun = Atomic(0), seen = Atomic(0), merged = Atomic(0)

    func wait(for number: Int, _ turn: borrowing Atomic<Int>) {
      while turn.load(ordering: .acquiring) < number { sched_yield() }
    }
  }

  /// Whichever of the two documents is locked first, which their addresses decide.
  @Test(arguments: [true, false], [true, false])
  func mergingCutsNoChangeInTwo(isFirst: Bool, isIntoTheChanged: Bool) throws {
    let documents = [Document(), Document()].sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
    let document = documents[isFirst ? 0 : 1], other = documents[isFirst ? 1 : 0]
    let turns = Turns(), rounds = 20
    let merging = Thread {
      for round in 1...rounds {
        turns.wait(for: round, turns.begun)
        turns.seen.store(round, ordering: .releasing)
        if isIntoTheChanged { try? document.merge(other: other) } else { try? other.merge(other: document) }
        turns.merged.store(round, ordering: .releasing)
      }
    }
    merging.start()
    defer { turns.begun.store(rounds, ordering: .releasing) }
    for round in 1...rounds {
      try document.withoutOtherThreads {
        let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
        turns.begun.store(round, ordering: .releasing)
        turns.wait(for: round, turns.seen)
        // The other thread is about to merge, and has the time to try.
        for _ in 0..<100 { try document.spliceText(obj: text, start: 0, delete: 0, value: "tea") }
        document.commitWith()
      }
      // Not while a change is made: the other thread may have to wait for its end.
      turns.wait(for: round, turns.merged)
      #expect(document.getHistory().count == round)
    }
  }
}
