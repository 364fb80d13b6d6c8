extension Loop: SerialExecutor {
  public func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  func run(_ job: UnownedJob) {
    // Not as a task executor as well: tasks that prefer none would be taken for being in the wrong place, and each `await`
    // of something on the same actor would end their turn. See decision 0012.
    job.runSynchronously(on: asUnownedSerialExecutor())
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func checkIsolated() { preconditionOnLoop() }

  public func isIsolatingCurrentContext() -> Bool? { isOnLoop }
}
