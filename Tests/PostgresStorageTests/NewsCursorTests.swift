import AutomergeRepo
import TestSupport
import Testing

@testable import PostgresStorage

struct NewsCursorTests {
  @Test func aFirstLookOnlySetsAMark() {
    var cursor = NewsCursor()
    #expect(cursor.start == nil)
    cursor.finish(settled: 40)
    #expect(cursor.start == 40)
  }

  @Test func whatWasTakenInIsNotNewsAgainAsLongAsItIsRead() {
    var cursor = NewsCursor()
    cursor.finish(settled: 40)
    func look(_ chunks: [StorageKey]) -> [StorageKey] {
      defer { cursor.finish(settled: 42) }
      return cursor.receive(chunks)
    }
    #expect(cursor.receive([["a"], ["b"]]) == [["a"], ["b"]])
    cursor.took(["a"])
    cursor.breakOff()
    #expect(look([["a"], ["b"]]) == [["b"]])
    #expect(look([["b"]]) == [["b"]])
    #expect(look([["a"]]) == [["a"]], "it was gone, and is another row now")
  }

  @Test func rowsAreReadAgainForAWhileAndNotForEver() {
    var cursor = NewsCursor()
    for number in 0..<20 as Range<UInt64> { cursor.finish(settled: number) }
    #expect(cursor.start == UInt64(20 - NewsCursor.repetitions))
  }

  /// Transactions that begin and end in any order, each with one chunk, and a database that answers as PostgreSQL does.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func noTransactionIsMissedInWhateverOrderTheyEnd(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (open, committed): (Set<UInt64>, Set<UInt64>) = ([], [])
    var next: UInt64 = 100
    var (cursor, seen): (NewsCursor, Set<StorageKey>) = (NewsCursor(), [])
    let limit = Int.random(in: 2...20, using: &random)
    /// In pages, between which transactions are committed.
    func look() {
      let settled = open.min() ?? next
      var position = cursor.start ?? next
      while true {
        let page = committed.filter { $0 >= position }.sorted().prefix(limit)
        for chunk in cursor.receive(page.map { ["\($0)"] }) {
          seen.insert(chunk)
          cursor.took(chunk)
        }
        guard page.count == limit, let last = page.last else { break }
        position = last + 1
        if let some = open.sorted().randomElement(using: &random) {
          open.remove(some)
          committed.insert(some)
        }
      }
      cursor.finish(settled: settled)
    }
    look()
    for _ in 0..<300 {
      switch Int.random(in: 0...3, using: &random) {
      case 0, 1:
        open.insert(next)
        next += 1
      case 2:
        if let some = open.sorted().randomElement(using: &random) {
          open.remove(some)
          committed.insert(some)
        }
      default: look()
      }
    }
    committed.formUnion(open)
    open = []
    for _ in 0...NewsCursor.repetitions { look() }
    #expect(seen == Set(committed.map { ["\($0)"] }), "seed \(seed)")
  }
}
