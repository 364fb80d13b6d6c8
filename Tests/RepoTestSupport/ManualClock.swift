import AutomergeRepo
import Foundation
import TestSupport

/// Time that stands still until a test moves it. Actions run in the order of their times, at exactly those.
@AutomergeRepo
public final class ManualClock: RepoClock {
  public private(set) var now: Duration = .zero
  private let start = Date(timeIntervalSince1970: 1_700_000_000)
  /// The last one comes first.
  private var actions: [Action] = []
  private var count = 0
  /// Whether work is under way on another thread that time has to wait for in `run`: on a busy machine a store is read more
  /// slowly than time passes here.
  public var standing: @AutomergeRepo () -> Bool = { false }

  public nonisolated init() {}

  public var date: Date {
    let (seconds, attoseconds) = now.components
    return start.addingTimeInterval(TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18)
  }

  @discardableResult
  public func schedule(
    after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void
  ) -> any ScheduledAction {
    count += 1
    let action = Action(time: now + max(.zero, delay), order: count, body: action)
    // Found by bisection: the next action is last, so those before this index are due later.
    var (low, high) = (0, actions.count)
    while low < high {
      let middle = (low + high) / 2
      if actions[middle].comes(before: action) { high = middle } else { low = middle + 1 }
    }
    actions.insert(action, at: low)
    return action
  }

  /// When the next action is due; nil if there is none.
  public var nextTime: Duration? { next?.time }

  /// How many actions wait for their time.
  public var plannedCount: Int { actions.count { !$0.isCancelled } }

  /// Moves time forward and runs what becomes due.
  public func advance(by duration: Duration) {
    let end = now + duration
    while let action = next, action.time <= end { run(action) }
    now = end
  }

  /// Moves time to the next action and runs it, unless that lies beyond `limit`.
  @discardableResult
  public func runNext(until limit: Duration) -> Bool {
    guard let action = next, action.time <= limit else { return false }
    run(action)
    return true
  }

  private var next: Action? {
    while actions.last?.isCancelled == true { actions.removeLast() }
    return actions.last
  }

  private func run(_ action: Action) {
    actions.removeLast()
    now = max(now, action.time)
    action.body()
  }

  private final class Action: ScheduledAction {
    let time: Duration
    let order: Int
    let body: @AutomergeRepo () -> Void
    var isCancelled = false

    init(time: Duration, order: Int, body: @escaping @AutomergeRepo () -> Void) {
      (self.time, self.order, self.body) = (time, order, body)
    }

    func cancel() { isCancelled = true }

    func comes(before other: Action) -> Bool { (time, order) < (other.time, other.order) }
  }
}

/// A condition did not come true in time.
public struct NotQuiet: Error, CustomStringConvertible {
  public let description: String
}

extension ManualClock {
  /// How many times faster than this process computes time may pass: what is read elsewhere must not come after the horizon.
  private static let maximumSpeed = 100

  /// Lets tasks run and time pass, as far as `horizon`, until the condition is true. Work on other threads may take any time.
  public func run(
    until what: String, horizon: Duration = .seconds(3), _ condition: @AutomergeRepo () -> Bool
  ) async throws {
    let (start, computed) = (now, ProcessorTime.ofThisProcess)
    let deadline = ContinuousClock.now + Patience.hang
    while !condition() {
      // Tasks first: what they start belongs to the present.
      for _ in 0..<3 {
        await Task.yield()
        await passThroughSharedThreads()
      }
      if condition() { return }
      let passed = min(horizon, (ProcessorTime.ofThisProcess - computed) * Self.maximumSpeed)
      let hasMoved = !standing() && runNext(until: start + passed)
      if !hasMoved, ContinuousClock.now > deadline { throw NotQuiet(description: "waited for: \(what)") }
    }
  }

  /// Returns when the work has begun that waited for one of Swift's shared threads before. On a busy machine a task's way over
  /// these takes longer than its turns here, and time would go on without it.
  @concurrent
  private nonisolated func passThroughSharedThreads() async {}
}
