import Foundation

/// A repo's source of time: the loop's in programs, a manual one in tests.
@AutomergeRepo
public protocol RepoClock: AnyObject, Sendable {
  /// Monotonic time since an arbitrary moment.
  var now: Duration { get }
  /// The calendar's time, which may jump.
  var date: Date { get }
  /// Runs `action` once, after `delay`. Dropping the result does not cancel it.
  @discardableResult
  func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction
}

/// A scheduled action.
@AutomergeRepo
public protocol ScheduledAction: AnyObject, Sendable {
  /// Cancels the action; does nothing if it has run already.
  func cancel()
}

/// The system's time, for programs without an event loop.
public final class SystemClock: RepoClock {
  private let start = ContinuousClock.now
  /// The system counts sleeps in nanoseconds and traps beyond three centuries; one century is as good as forever.
  nonisolated static let maximumDelay: Duration = .seconds(3_000_000_000)

  public nonisolated init() {}

  public var now: Duration { ContinuousClock.now - start }
  public var date: Date { Date() }

  public func schedule(
    after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void
  ) -> any ScheduledAction {
    let delay = min(delay, Self.maximumDelay)
    return SleepingTask(
      Task { @AutomergeRepo in
        guard (try? await Task.sleep(for: delay)) != nil, !Task.isCancelled else { return }
        action()
      })
  }

  private final class SleepingTask: ScheduledAction {
    private let task: Task<Void, Never>
    init(_ task: Task<Void, Never>) { self.task = task }
    func cancel() { task.cancel() }
  }
}
