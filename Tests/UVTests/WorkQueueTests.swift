import Testing
import UV

private struct Refused: Error, Equatable {}

struct WorkQueueTests {
  @Test func workRunsElsewhereAndItsResultComesBackToTheLoop() throws {
    try runLoop { loop in
      let results = Box<[Int]>([])
      for number in 0..<50 {
        WorkQueue(on: loop).submit({ loop.isOnLoop ? -1 : number * number }) { result in
          #expect(loop.isOnLoop)
          results.value.append(result)
          if results.value.count == 50 {
            #expect(results.value.sorted() == (0..<50).map { $0 * $0 })
            loop.stop()
          }
        }
      }
    }
  }

  @Test func workCanBeAwaitedAndThrowsItsOwnError() async throws {
    let loop = try Loop()
    try loop.runOnNewThread()
    defer { loop.stop() }
    let queue = WorkQueue(on: loop)
    #expect(await queue.run { 6 * 7 } == 42)
    await #expect(throws: Refused()) { try await queue.run { () throws(Refused) -> Int in throw Refused() } }
    #expect(await Resident(on: loop).isBackAfter { await queue.run { !loop.isOnLoop } } == [true, true, true])
  }
}
