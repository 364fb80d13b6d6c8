extension Loop: SerialExecutor {
  public func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  func run(_ job: UnownedJob) {
    // The loop is not a task executor as well: tasks without a preference would count as being in the wrong place, and
    // each `await` of something on the same actor would end their turn. See decision 0012.
    job.runSynchronously(on: asUnownedSerialExecutor())
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { preconditionOnLoop() }

  public func isIsolatingCurrentContext() -> Bool? { isOnLoop }
}
