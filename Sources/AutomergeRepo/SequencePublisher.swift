#if canImport(Combine)
  import Combine
  import Synchronization

  /// Publishes a sequence with Combine: each subscriber has a sequence of its own, and takes as many elements from it
  /// as it asks for.
  package struct SequencePublisher<Output: Sendable>: Publisher {
    package typealias Failure = Never

    private let sequence: @Sendable () async -> AsyncStream<Output>?

    /// - Parameter sequence: makes the sequence for a subscriber; nil if its source is gone
    package init(_ sequence: @escaping @Sendable () async -> AsyncStream<Output>?) { self.sequence = sequence }

    package func receive<Target: Subscriber>(subscriber: Target) where Target.Input == Output, Target.Failure == Never {
      let delivery = Delivery<Output>({ subscriber.receive($0) }, finish: { subscriber.receive(completion: .finished) })
      subscriber.receive(subscription: delivery)
      delivery.start(sequence)
    }
  }

  /// One subscriber's subscription. Sendable because a subscriber may call it from any thread, though never from two at
  /// once.
  private final class Delivery<Element: Sendable>: Subscription, @unchecked Sendable {
    private struct State {
      var demand = Subscribers.Demand.none
      var isCancelled = false
      var task: Task<Void, Never>?
      /// Waits for demand, or for the end.
      var waiting: CheckedContinuation<Void, Never>?
    }

    private let receive: (Element) -> Subscribers.Demand
    private let finish: () -> Void
    private let state = Mutex(State())

    init(_ receive: @escaping (Element) -> Subscribers.Demand, finish: @escaping () -> Void) {
      (self.receive, self.finish) = (receive, finish)
    }

    func start(_ sequence: @escaping @Sendable () async -> AsyncStream<Element>?) {
      state.withLock { state in
        guard !state.isCancelled else { return }
        state.task = Task { [self] in await deliver(sequence) }
      }
    }

    private func deliver(_ sequence: @Sendable () async -> AsyncStream<Element>?) async {
      if let elements = await sequence() {
        for await element in elements {
          guard await isWanted() else { return }
          let more = receive(element)
          state.withLock { $0.demand += more }
        }
      }
      guard !state.withLock({ $0.isCancelled }) else { return }
      finish()
    }

    /// Waits until the subscriber wants an element; false if it has cancelled.
    private func isWanted() async -> Bool {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          guard state.demand == .none, !state.isCancelled else { return false }
          state.waiting = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
      return state.withLock { state in
        guard !state.isCancelled else { return false }
        state.demand -= 1
        return true
      }
    }

    func request(_ demand: Subscribers.Demand) {
      let waiting = state.withLock { state in
        state.demand += demand
        return state.demand == .none ? nil : state.waiting.take()
      }
      waiting?.resume()
    }

    func cancel() {
      let (task, waiting) = state.withLock { state in
        state.isCancelled = true
        return (state.task.take(), state.waiting.take())
      }
      task?.cancel()
      waiting?.resume()
    }
  }
#endif
