import Foundation
import Synchronization

/// Notifications that a document changed.
extension Document {
  /// Yields one element after each change of the document's content, by this replica or another, until the document is
  /// gone. Changes that come while no element is awaited are reported as one, so a slow reader falls behind by at most
  /// one element; `difference(since:)` says what has changed. Every call returns a sequence of its own, which may be
  /// read on any thread and begins with the changes after the call.
  public func updates() -> AsyncStream<Void> { observers.add() }
}

extension Document {
  /// Calls `body` after every change of the content, on the thread that made it, until `removeObserver` is called with
  /// the number returned. `body` may read the document, and must be fast.
  package func addObserver(_ body: @escaping @Sendable () -> Void) -> Int { observers.add(body) }

  package func removeObserver(_ number: Int) { observers.remove(number) }
}

/// The observers of changes of one document or bound value. Safe to use from several threads.
final class UpdateObservers: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    var bodies: [Int: @Sendable () -> Void] = [:]
    var nextNumber = 0
    var count: Int { continuations.count + bodies.count }
  }

  private let state = Mutex(State())
  /// The number of observers, read without the lock: after most edits there are none.
  private let count = Atomic(0)

  deinit { for each in state.withLock({ $0.continuations.values }) { each.finish() } }

  func add() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextNumber += 1
      state.continuations[state.nextNumber] = continuation
      count.store(state.count, ordering: .releasing)
      return state.nextNumber
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Calls `body` after every change, on the thread that made it, until `remove` is called with the number returned.
  func add(_ body: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextNumber += 1
      state.bodies[state.nextNumber] = body
      count.store(state.count, ordering: .releasing)
      return state.nextNumber
    }
  }

  func remove(_ number: Int) {
    state.withLock { state in
      state.continuations[number] = nil
      state.bodies[number] = nil
      count.store(state.count, ordering: .releasing)
    }
  }

  /// Ends the sequences. Those that begin later go on.
  func endSequences() {
    let all = state.withLock { Array($0.continuations.values) }
    // Each removes itself.
    for each in all { each.finish() }
  }

  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Notifies all observers. Called without the document's lock, because an observer may read the document at once.
  @inline(__always)
  func notify() {
    if !isEmpty { tellAll() }
  }

  private func tellAll() {
    let (continuations, bodies) = state.withLock { (Array($0.continuations.values), Array($0.bodies.values)) }
    for each in continuations { each.yield() }
    for each in bodies { each() }
  }
}

extension DocumentCore {
  /// Increases with every operation, of any actor.
  var operationCount: Int { graph.operationCount + Int(transaction?.opCount ?? 0) }
}
