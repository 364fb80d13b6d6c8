import Synchronization

/// The one place where documents, sessions and connections change: everything mutable in a repo belongs to this actor.
///
/// A program with an event loop installs the loop as the executor before anything else, so that callbacks of the loop
/// and `async` code share one thread. Without that, a private serial queue is used.
@globalActor
public actor AutomergeRepo {
  public static let shared = AutomergeRepo()

  /// Where the actor's jobs run.
  private enum Place {
    case undecided
    case ownQueue(QueueExecutor)
    /// Keeps the queue used before, if any: another thread may be about to hand it a job.
    case installed(any SerialExecutor, instead: QueueExecutor?)
  }

  private static let place = Mutex(Place.undecided)

  /// Runs everything of this actor on `executor`, for the life of the process.
  ///
  /// Takes effect at once if called before the actor's first use. Later, in tests, it takes effect between two jobs, and
  /// waiting jobs move over. A second call with the same executor does nothing; another executor is a programming error and
  /// stops the program.
  public static func install(executor: any SerialExecutor) {
    let queue: QueueExecutor? = place.withLock { place in
      switch place {
      case .undecided:
        place = .installed(executor, instead: nil)
        return nil
      case .ownQueue(let queue):
        return queue
      case .installed(let installed, _):
        if installed === executor { return nil }
        preconditionFailure("the executor of AutomergeRepo is installed once")
      }
    }
    queue?.moveOver(to: executor) { place.withLock { $0 = .installed(executor, instead: queue) } }
  }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    Self.place.withLock { place in
      switch place {
      case .undecided:
        let queue = QueueExecutor()
        place = .ownQueue(queue)
        return queue.asUnownedSerialExecutor()
      case .ownQueue(let queue): return queue.asUnownedSerialExecutor()
      case .installed(let executor, _): return executor.asUnownedSerialExecutor()
      }
    }
  }

  /// Lets the actor's jobs that wait run first. Unlike `Task.yield()`, it takes no detour by another thread.
  package static func yield() async {
    await Task { @AutomergeRepo in }.value
  }

  /// Runs `body` at once, because the caller is already on the actor's executor; stops the program if it is not.
  public static func assumeIsolated<Result: Sendable>(
    _ body: @AutomergeRepo () throws -> Result
  ) rethrows -> Result {
    shared.preconditionIsolated()
    return try withoutActuallyEscaping(body) { body in
      // The check above guarantees what the removed annotation promised.
      try unsafeBitCast(body, to: (() throws -> Result).self)()
    }
  }
}
