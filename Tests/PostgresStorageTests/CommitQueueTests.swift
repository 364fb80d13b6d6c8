import Foundation
import TestSupport
import Testing

@testable import PostgresStorage

struct CommitQueueTests {
  private func commit(_ name: String, byteCount: Int = 10, steps: Int = 1, at time: Duration = .zero)
    -> CommitQueue.Commit
  {
    CommitQueue.Commit(
      steps: Array(
        repeating: .saveRecord(key: name, Data(count: byteCount), sha256: Data()), count: steps),
      submitted: time, done: { _ in })
  }

  private func names(_ commits: [CommitQueue.Commit]) -> [String] { commits.map { $0.steps[0].lockName } }

  @Test func whatWaitsBecomesOneTransactionInOrder() {
    var queue = CommitQueue()
    for name in ["a", "b", "c"] { #expect(queue.append(commit(name)) == true) }
    #expect(names(queue.takeBatch()) == ["a", "b", "c"])
    #expect(queue.isEmpty)
    #expect(queue.takeBatch().isEmpty)
  }

  @Test func aTransactionHasALimitButAlwaysOneCommit() {
    var queue = CommitQueue()
    for name in ["large", "small"] {
      #expect(queue.append(commit(name, byteCount: CommitQueue.maximumBatchByteCount)) == true)
    }
    #expect(queue.append(commit("many", steps: CommitQueue.maximumBatchSteps)) == true)
    #expect(queue.append(commit("last")) == true)
    #expect(names(queue.takeBatch()) == ["large"])
    #expect(names(queue.takeBatch()) == ["small"])
    #expect(names(queue.takeBatch()) == ["many"])
    #expect(names(queue.takeBatch()) == ["last"])
  }

  @Test func afterAFailureEachIsMadeOnItsOwnBeforeAllOthers() {
    var queue = CommitQueue()
    for name in ["a", "b", "c"] { #expect(queue.append(commit(name)) == true) }
    let batch = queue.takeBatch()
    for name in ["d", "e"] { #expect(queue.append(commit(name)) == true) }
    queue.putBack(batch, alone: true)
    #expect(names(queue.takeBatch()) == ["a"])
    #expect(names(queue.takeBatch()) == ["b"])
    let last = queue.takeBatch()
    #expect(names(last) == ["c"])
    queue.putBack(last, alone: true)
    #expect(names(queue.takeBatch()) == ["c"])
    #expect(names(queue.takeBatch()) == ["d", "e"])
  }

  @Test func theQueueIsBounded() {
    var queue = CommitQueue()
    for number in 0..<CommitQueue.maximumCount { #expect(queue.append(commit("\(number)")) == true) }
    #expect(queue.append(commit("one more")) == false)
    #expect(queue.take { $0.steps[0].lockName == "7" }.count == 1)
    #expect(queue.append(commit("one more")) == true)
    var heavy = CommitQueue()
    #expect(
      heavy.append(commit("a", byteCount: CommitQueue.maximumByteCount * 2)) == true, "a queue takes any one commit")
    #expect(heavy.append(commit("b")) == false)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func nothingIsLostOrOvertaken(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = CommitQueue()
    var (next, made): (Int, [Int]) = (0, [])
    while made.count < 500 {
      if Bool.random(using: &random) {
        for _ in 0..<Int.random(in: 1...9, using: &random) {
          // A queue that is full is tried again.
          if queue.append(commit("\(next)", byteCount: Int.random(in: 0...2_000_000, using: &random))) { next += 1 }
        }
      }
      let batch = queue.takeBatch()
      switch Int.random(in: 0...3, using: &random) {
      case 0: queue.putBack(batch, alone: batch.count > 1)
      case 1: queue.putBack(batch, alone: false)
      default: made += names(batch).compactMap { Int($0) }
      }
    }
    #expect(made == Array(0..<made.count), "seed \(seed)")
  }
}
