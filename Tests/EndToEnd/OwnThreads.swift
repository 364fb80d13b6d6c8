import Foundation
import Testing

/// Runs a suite's tests on a few threads of their own instead of Swift's shared ones.
///
/// These tests block while they wait for processes. On the shared threads, one for each core, that would stop every
/// other test of the run.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  static var ownThreads: Self { OwnThreads() }
}

/// A task executor whose threads may be blocked.
final class BlockingExecutor: TaskExecutor, @unchecked Sendable {
  /// The key in the dictionaries of these threads.
  static let mark = "blocking tests"
  static let shared = BlockingExecutor(threadCount: 3)

  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  init(threadCount: Int) {
    for _ in 0..<threadCount {
      Thread.detachNewThread {
        Thread.current.threadDictionary[Self.mark] = true
        self.run()
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock { jobs.append(job) }
    condition.signal()
  }

  private func run() -> Never {
    while true {
      condition.lock()
      while jobs.isEmpty { condition.wait() }
      let job = jobs.removeFirst()
      condition.unlock()
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
