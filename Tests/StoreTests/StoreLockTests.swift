import Foundation
import TestSupport
import Testing

@testable import SQLiteStorage

/// One process at a time makes, imports or rebuilds a database.
struct StoreLockTests {
  @Test func whoWaitsForTheLockLeavesTheProcessorToOthers() async throws {
    let directory = try TemporaryDirectory(), path = directory.path
    let held = open(directory.file("notes.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
    var worked = 0.0
    let waiting = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: ProcessorTime.inThisThread { Self.takesLock(in: path) }) }.start()
      // The lock becomes free after half a second of work, on any other processor than the one that waits.
      while worked < 0.5 { worked += ProcessorTime.inThisThread { (0..<10_000).reduce(0, &+) }.seconds }
      close(held)
    }
    #expect(waiting.result && waiting.seconds < worked / 10, "\(waiting.seconds) s of \(worked) s")
  }

  private static func takesLock(in path: String) -> Bool {
    do {
      let lock = try StoreLock(directory: path)
      _ = consume lock
      return true
    } catch {
      return false
    }
  }
}
