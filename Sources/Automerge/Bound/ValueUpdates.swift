import Synchronization

/// Tells the readers of a bound value when this value has changed, and not when the document changes elsewhere.
final class ValueUpdates<Value: Equatable & Sendable>: Sendable {
  private struct State {
    /// The value that the readers were last told of.
    var known: Value?
    /// The observed document, and the observer's number there.
    var subscription: (document: Document, number: Int)?
  }

  private let observers = UpdateObservers()
  private let state = Mutex(State())

  deinit {
    if let (document, number) = state.withLock({ $0.subscription }) { document.observers.remove(number) }
  }

  /// One element for each change from now on. Changes that come while no element is awaited are one element.
  func add(_ value: Value) -> AsyncStream<Void> {
    state.withLock { $0.known = value }
    return observers.add()
  }

  func add(_ value: Value, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.known = value }
    _ = observers.add(body)
  }

  /// Whether there are no observers.
  var isEmpty: Bool { observers.isEmpty }

  /// Reads `value` after every change of a document from now on, as long as there is an observer. Nil means that what has
  /// the value was deleted, which ends the sequences.
  func listen(to document: Document, _ value: @escaping @Sendable () -> Value?) {
    defer { if value() == nil { endSequences(in: document) } }
    let isNew = state.withLock { $0.subscription?.document !== document }
    guard isNew else { return }
    let number = document.observers.add { [weak self, weak document] in
      guard let self, !self.isEmpty else { return }
      if let value = value() { self.changed(to: value) } else if let document { self.endSequences(in: document) }
    }
    let old = state.withLock { state in
      let old = state.subscription
      state.subscription = (document, number)
      return old
    }
    if let old { old.document.observers.remove(old.number) }
  }

  /// While a document is isolated at an earlier state, what is missing there is not deleted.
  private func endSequences(in document: Document) {
    if document.withCore({ $0.isolation == nil }) { observers.endSequences() }
  }

  func changed(to value: Value) {
    let isNews = state.withLock { state in
      guard state.known != value else { return false }
      state.known = value
      return true
    }
    if isNews { observers.notify() }
  }
}
