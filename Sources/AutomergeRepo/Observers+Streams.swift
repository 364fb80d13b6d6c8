extension Observers {
  /// A sequence of `first` and what `value` makes of each event. Ends with the observers' owner, or with `endSequences`.
  func stream<Value: Sendable>(
    _ policy: AsyncStream<Value>.Continuation.BufferingPolicy, first: Value? = nil,
    _ value: @escaping @AutomergeRepo (Event) -> Value?
  ) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: policy)
    if let first { continuation.yield(first) }
    let end = StreamEnd(continuation)
    let observation = add { event in
      if let value = value(event) { end.continuation.yield(value) }
    } end: { [weak end] in
      end?.continuation.finish()
    }
    continuation.onTermination = { _ in
      Task { @AutomergeRepo in observation.cancel() }
    }
    return stream
  }
}

/// Finishes a sequence when its source is gone; otherwise its readers would wait forever.
private final class StreamEnd<Value: Sendable>: Sendable {
  let continuation: AsyncStream<Value>.Continuation

  init(_ continuation: AsyncStream<Value>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}
