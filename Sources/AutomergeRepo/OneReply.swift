import Synchronization

/// A continuation that waits for several things at once: the first one resumes it, the others then do nothing.
///
/// Releasing the last reference resumes it with `otherwise`. A loop that ends releases its timers and the closures that
/// wait for other processes; the code that awaits them must not wait forever.
public final class OneReply<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, Never>?>
  private let otherwise: Value

  fileprivate init(_ continuation: CheckedContinuation<Value, Never>, otherwise: Value) {
    self.continuation = Mutex(continuation)
    self.otherwise = otherwise
  }

  deinit { resume(returning: otherwise) }

  public func resume(returning value: Value) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: value)
  }

  /// Waits until the reply that `body` is given is resumed or released.
  public static func wait(
    otherwise: Value, isolation: isolated (any Actor)? = #isolation, _ body: (OneReply) -> Void
  ) async -> Value {
    await withCheckedContinuation { body(OneReply($0, otherwise: otherwise)) }
  }
}

extension RepoClock {
  /// Waits. Returns false if the clock has ended first: do not wait again.
  public func pause(for duration: Duration) async -> Bool {
    await OneReply.wait(otherwise: false) { reply in
      schedule(after: duration) { reply.resume(returning: true) }
    }
  }
}
