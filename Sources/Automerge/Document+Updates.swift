import Foundation
import Synchronization

/// News that a document changed.
extension Document {
  /// Gives one element after the document's content changed, by an edit of this replica or by changes of others, until
  /// the document is gone. Changes that come while nobody asks are reported once, so a slow reader falls behind by no
  /// more than one element; `difference(since:)` tells what happened. Every call gives a sequence of its own, which may
  /// be read on any thread and begins with the changes after the call.
  public func updates() -> AsyncStream<Void> { observers.add() }
}

/// Those who want to know of changes of one document. Safe to use from several threads.
final class UpdateObservers: Sendable {
  private struct State {
    var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextNumber = 0
  }

  private let state = Mutex(State())

  deinit { for each in state.withLock({ $0.continuations.values }) { each.finish() } }

  func add() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextNumber += 1
      state.continuations[state.nextNumber] = continuation
      return state.nextNumber
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  private func remove(_ number: Int) { state.withLock { _ = $0.continuations.removeValue(forKey: number) } }

  /// Tells everybody. Called without the document's lock, as a reader may ask the document at once.
  func notify() {
    for each in state.withLock({ Array($0.continuations.values) }) { each.yield() }
  }
}

extension DocumentCore {
  /// Grows with every operation, whoever made it.
  var operationCount: Int { graph.operationCount + Int(transaction?.opCount ?? 0) }
}
