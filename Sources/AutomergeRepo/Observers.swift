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
  /// What ends the sequences of events, by the numbers of their observers; nil once they have ended.
  private var ends: [Int: @AutomergeRepo () -> Void]? = [:]

  public nonisolated init() {}

  @discardableResult
  public func add(_ handler: @escaping @AutomergeRepo (Event) -> Void) -> Observation {
    let id = nextId
    nextId += 1
    handlers.append((id, handler))
    return Observation { [weak self] in self?.remove(id) }
  }

  private func remove(_ id: Int) {
    handlers.removeAll { $0.id == id }
    ends?[id] = nil
  }

  /// Adds an observer that reads a sequence, and `end`, which is called by `endSequences`; at once if that was called before.
  func add(
    _ handler: @escaping @AutomergeRepo (Event) -> Void, end: @escaping @AutomergeRepo () -> Void
  ) -> Observation {
    let id = nextId, observation = add(handler)
    if ends == nil { end() } else { ends?[id] = end }
    return observation
  }

  /// Ends all sequences, and those that begin later: no more events will come. Other observers stay.
  func endSequences() {
    let all = ends ?? [:]
    ends = nil
    for (_, end) in all.sorted(by: { $0.key < $1.key }) { end() }
  }

  public func send(_ event: Event) {
    for (_, handler) in handlers { handler(event) }
  }
}
