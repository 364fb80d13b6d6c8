#if canImport(Combine)
  import Combine

  // Apple's way of observing. Both `objectWillChange` and `objectDidChange` fire after a change, when the document can
  // be read, on the thread that made the change: a document cannot be read from within a change.

  extension Document: ObservableObject {
    func startPublishing() { _ = observers.add { [weak self] in self?.objectWillChange.send() } }
  }

  extension Document {
    /// Fires after the document's content changed, by an edit of this replica or by changes of others.
    public var objectDidChange: AnyPublisher<(), Never> {
      let observers = observers
      return Deferred {
        let sender = Sender()
        let number = observers.add { sender.send() }
        return sender.subject.handleEvents(receiveCancel: { observers.remove(number) })
      }.eraseToAnyPublisher()
    }
  }

  extension AutomergeText: ObservableObject {
    func startPublishing() { onUpdate { [weak self] in self?.objectWillChange.send() } }
  }

  extension Counter: ObservableObject {
    func startPublishing() { onUpdate { [weak self] in self?.objectWillChange.send() } }
  }

  /// A Combine subject, which may be sent to from any thread.
  private final class Sender: @unchecked Sendable {
    let subject = PassthroughSubject<(), Never>()

    func send() { subject.send(()) }
  }
#endif
