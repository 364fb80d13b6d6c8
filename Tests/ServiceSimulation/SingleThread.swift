import AutomergeRepo
import CTaskHooks
import Foundation
import NotesHarness
import Synchronization

/// Runs all tasks of this process on one thread, in an order that a seed determines: the actor's jobs in the order in which they
/// came, and those of other tasks, which a program's threads would run, at random moments in between.
///
/// So a simulation knows when nothing is left to do, without asking the system about threads.
public final class SingleThread: SerialExecutor {
  public static let shared = SingleThread()

  private struct State {
    /// The jobs of the actor. Those before `next` have run.
    var jobs: [UnownedJob] = []
    var next = 0
    /// The jobs of tasks off the actor.
    var otherJobs: [UnownedJob] = []
    var random = SplitMix64(seed: 0)
    /// One of so many jobs is of a task off the actor, while there are both.
    var rarity = 2
    var waits = false

    var isEmpty: Bool { next == jobs.count && otherJobs.isEmpty }

    /// The next job, and whether it is the actor's.
    mutating func take() -> (job: UnownedJob, isActors: Bool)? {
      let hasActors = next < jobs.count
      if !otherJobs.isEmpty, !hasActors || Int.random(in: 0..<rarity, using: &random) == 0 {
        let index = Int.random(in: 0..<otherJobs.count, using: &random)
        return (otherJobs.remove(at: index), false)
      }
      guard hasActors else { return nil }
      defer { forgetTaken() }
      return (jobs[next], true)
    }

    private mutating func forgetTaken() {
      next += 1
      if next == jobs.count {
        jobs.removeAll(keepingCapacity: true)
        next = 0
      }
    }
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let thread = Mutex<UInt?>(nil)

  /// Whether `run` has been called: the present thread runs everything.
  public var isRunning: Bool { thread.withLock { $0 != nil } }

  /// Whether a job waits.
  var hasJobs: Bool { state.withLock { !$0.isEmpty } }

  /// Determines the order from now on.
  func begin(seed: UInt64) {
    state.withLock {
      $0.random = SplitMix64(seed: seed)
      $0.rarity = [2, 8, 32][Int(seed % 3)]
    }
  }

  /// Runs `body` and all that comes of it on this thread. To be called once, before any task begins.
  public func run(_ body: @escaping @AutomergeRepo () async -> Never) -> Never {
    thread.withLock { $0 = Self.currentThread }
    AutomergeRepo.install(executor: self)
    let hook: @convention(thin) (UnownedJob, @convention(thin) (UnownedJob) -> Void) -> Void = { job, _ in
      SingleThread.shared.add { $0.otherJobs.append(job) }
    }
    swift_task_enqueueGlobal_hook = unsafeBitCast(hook, to: UnsafeMutableRawPointer.self)
    Task { await body() }
    // The executor of a job that has none, as Swift's runtime writes it.
    let none = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
    while true {
      let taken = state.withLock { state in
        let taken = state.take()
        state.waits = taken == nil
        return taken
      }
      if let (job, isActors) = taken {
        job.runSynchronously(on: isActors ? asUnownedSerialExecutor() : none)
      } else {
        wake.wait()
      }
    }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    add { $0.jobs.append(job) }
  }

  private func add(_ job: (inout State) -> Void) {
    let waits = state.withLock { state in
      job(&state)
      defer { state.waits = false }
      return state.waits
    }
    if waits { wake.signal() }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func isIsolatingCurrentContext() -> Bool? { thread.withLock { $0 == Self.currentThread } }

  public func checkIsolated() { precondition(isIsolatingCurrentContext() == true) }

  private static var currentThread: UInt { UInt(pthread_self()) }
}
