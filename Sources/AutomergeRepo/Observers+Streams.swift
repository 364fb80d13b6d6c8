extension Observers {
  /// A sequence of `first` and what `value` makes of each event. Ends with the observers' owner, or after a value for
  /// which `isLast` holds.
  func stream<Value: Sendable>(
    _ policy: AsyncStream<Value>.Continuation.BufferingPolicy, first: Value? = nil,
    isLast: @escaping @AutomergeRepo (Value) -> Bool = { _ in false },
    _ value: @escaping @AutomergeRepo (Event) -> Value?
  ) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: policy)
    let end = StreamEnd(continuation)
    let observation = add { event in
      guard let value = value(event) else { return }
      end.continuation.yield(value)
      if isLast(value) { end.continuation.finish() }
    }
    continuation.onTermination = { _ in
      Task { @AutomergeRepo in observation.cancel() }
    }
    if let first { continuation.yield(first) }
    return stream
  }
}

/// Finishes a sequence when its source is gone; otherwise its readers would wait forever.
private final class StreamEnd<Value: Sendable>: Sendable {
  let continuation: AsyncStream<Value>.Continuation

  init(_ continuation: AsyncStream<Value>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
