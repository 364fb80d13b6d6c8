internal import CUV

/// Runs long work on libuv's threads and brings its result back to the loop.
public struct WorkQueue: Sendable {
  public let loop: Loop

  public init(on loop: Loop) {
    self.loop = loop
  }

  /// Runs `work` on another thread, then `done` on the loop. On the loop's thread only.
  public func submit<T: Sendable>(_ work: @escaping @Sendable () -> T, done: @escaping (T) -> Void) {
    loop.preconditionOnLoop()
    let item = ResultItem(loop: loop, work: work, done: done)
    // The request is freed, and the item released, in the second callback.
    let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
    request.initialize(to: uv_work_t())
    request.pointee.data = Unmanaged<Item>.passRetained(item).toOpaque()
    let status = uv_queue_work(
      loop.raw, request,
      { request in
        guard let data = request?.pointee.data else { return }
        Unmanaged<Item>.fromOpaque(data).takeUnretainedValue().work()
      },
      { request, _ in
        guard let request, let data = request.pointee.data else { return }
        request.deallocate()
        let item = Unmanaged<Item>.fromOpaque(data).takeRetainedValue()
        item.loop.entered { item.finish() }
      })
    precondition(status == 0, "uv_queue_work fails only without a callback")
  }

  /// Runs `work` on another thread and waits for its result without leaving the caller's actor. From any thread.
  public func run<T: Sendable, E: Error>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<T, E>, Never>) in
      let submit: @Sendable () -> Void = { [self] in
        self.submit({ Result(catching: work) }, done: { continuation.resume(returning: $0) })
      }
      if loop.isOnLoop { submit() } else { loop.post(submit) }
    }
    return try result.get()
  }
}

/// One piece of work, whatever the type of its result: `work` runs on another thread, then `finish` on the loop's.
private class Item {
  let loop: Loop

  init(loop: Loop) { self.loop = loop }

  func work() {}
  func finish() {}
}

private final class ResultItem<T: Sendable>: Item {
  private let body: @Sendable () -> T
  private let done: (T) -> Void
  private var result: T?

  init(loop: Loop, work: @escaping @Sendable () -> T, done: @escaping (T) -> Void) {
    body = work
    self.done = done
    super.init(loop: loop)
  }

  override func work() { result = body() }

  override func finish() {
    if let result { done(result) }
  }
}
