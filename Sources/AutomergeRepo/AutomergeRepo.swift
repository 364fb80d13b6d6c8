import Dispatch
import Synchronization

/// The one place where documents, sessions and connections change: everything mutable in a repo belongs to this actor.
///
/// A program with an event loop installs the loop as the executor before anything else, so that callbacks of the loop
/// and `async` code share one thread. Without that, a private serial queue is used.
@globalActor
public actor AutomergeRepo {
  public static let shared = AutomergeRepo()

  private static let executor = Mutex<(any SerialExecutor)?>(nil)

  /// Makes `executor` the place where everything of this actor runs, for the life of the process.
  ///
  /// Call it once, before anything isolated to the actor has run; a second call, or a late one, is a mistake of the
  /// program and stops it.
  public static func install(executor newExecutor: any SerialExecutor) {
    executor.withLock { current in
      precondition(current == nil, "the executor of AutomergeRepo is installed once, before its first use")
      current = newExecutor
    }
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    let executor = AutomergeRepo.executor.withLock { current in
      if let current { return current }
      let queue = QueueExecutor()
      current = queue
      return queue
    }
    return executor.asUnownedSerialExecutor()
  }

  /// Runs `body` at once, because the caller already is on the actor's executor; stops the program if it is not.
  public static func assumeIsolated<Result: Sendable>(
    _ body: @AutomergeRepo () throws -> Result
  ) rethrows -> Result {
    shared.preconditionIsolated()
    return try withoutActuallyEscaping(body) { body in
      // The check above is what the lost annotation promised.
      try unsafeBitCast(body, to: (() throws -> Result).self)()
    }
  }
}

/// The executor of a program that has no loop: one serial queue.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "notes-lsp.repo")
  private static let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: QueueExecutor.key, value: true)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func isIsolatingCurrentContext() -> Bool? { DispatchQueue.getSpecific(key: QueueExecutor.key) == true }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
