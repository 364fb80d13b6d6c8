import Synchronization

/// A changing value for readers that want the latest state and not every one before it.
@AutomergeRepo
public final class LatestValues<Value: Sendable & Equatable> {
  private struct Readers {
    var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    var nextNumber = 0
  }

  public private(set) var value: Value
  private let readers = Mutex(Readers())

  public nonisolated init(_ value: Value) { self.value = value }

  deinit { for reader in readers.withLock({ Array($0.continuations.values) }) { reader.finish() } }

  /// Sets the value, and tells the readers if it differs.
  public func set(_ value: Value) {
    guard value != self.value else { return }
    self.value = value
    for reader in readers.withLock({ Array($0.continuations.values) }) { reader.yield(value) }
  }

  /// The value now, and again whenever it has changed. A slow reader misses values in between, but never the last one.
  public func updates() -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let number = readers.withLock { readers in
      readers.nextNumber += 1
      readers.continuations[readers.nextNumber] = continuation
      return readers.nextNumber
    }
    continuation.onTermination = { [weak self] _ in
      self?.readers.withLock { $0.continuations[number] = nil }
    }
    continuation.yield(value)
    return stream
  }
}
