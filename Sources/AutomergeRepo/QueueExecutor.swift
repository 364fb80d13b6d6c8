import Dispatch
import Synchronization

/// The executor of a program without a loop: one serial queue, until another executor takes over.
final class QueueExecutor: SerialExecutor {
  private enum State {
    case running(jobs: [UnownedJob])
    /// Another executor takes over when the present job has ended.
    case leaving(jobs: [UnownedJob], to: any SerialExecutor, whenLeft: @Sendable () -> Void)
    case left(to: any SerialExecutor)
  }

  private let queue = DispatchQueue(label: "notes-lsp.repo", target: .global())
  private let state = Mutex(State.running(jobs: []))
  private static let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: Self.key, value: true)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let successor: (any SerialExecutor)? = state.withLock { state in
      switch state {
      case .running(var jobs):
        jobs.append(job)
        state = .running(jobs: jobs)
        return nil
      case .leaving(var jobs, let executor, let whenLeft):
        jobs.append(job)
        state = .leaving(jobs: jobs, to: executor, whenLeft: whenLeft)
        return nil
      case .left(let executor):
        return executor
      }
    }
    if let successor { successor.enqueue(ExecutorJob(job)) } else { queue.async { self.runNext() } }
  }

  /// Moves all jobs to another executor once no job runs here.
  func moveOver(to executor: any SerialExecutor, whenLeft: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard case .running(let jobs) = state else { return }
      state = .leaving(jobs: jobs, to: executor, whenLeft: whenLeft)
    }
    queue.async { self.runNext() }
  }

  private func runNext() {
    let job: UnownedJob? = state.withLock { state in
      switch state {
      case .running(var jobs):
        guard !jobs.isEmpty else { return nil }
        let job = jobs.removeFirst()
        state = .running(jobs: jobs)
        return job
      case .leaving(let jobs, let executor, let whenLeft):
        whenLeft()
        for job in jobs { executor.enqueue(ExecutorJob(job)) }
        state = .left(to: executor)
        return nil
      case .left:
        return nil
      }
    }
    job?.runSynchronously(on: asUnownedSerialExecutor())
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func isIsolatingCurrentContext() -> Bool? { DispatchQueue.getSpecific(key: Self.key) == true }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
