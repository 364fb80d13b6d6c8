/// An observation that lasts until it is cancelled. Dropping it does not cancel it.
@AutomergeRepo
public final class Observation {
  private var end: (() -> Void)?

  init(end: @escaping @AutomergeRepo () -> Void) { self.end = end }

  public func cancel() {
    end?()
    end = nil
  }
}

/// The observers of events, in the order in which they were added.
@AutomergeRepo
public final class Observers<Event> {
  private var handlers: [(id: Int, handler: @AutomergeRepo (Event) -> Void)] = []
  private var nextId = 0

  public nonisolated init() {}

  @discardableResult
  public func add(_ handler: @escaping @AutomergeRepo (Event) -> Void) -> Observation {
    let id = nextId
    nextId += 1
    handlers.append((id, handler))
    return Observation { [weak self] in self?.handlers.removeAll { $0.id == id } }
  }

  public func send(_ event: Event) {
    for (_, handler) in handlers { handler(event) }
  }
}
