import Foundation

/// Time as a repo sees it. Programs use the loop's, tests a manual one.
@AutomergeRepo
public protocol RepoClock: AnyObject, Sendable {
  /// Time that only goes forward, since some moment that does not matter.
  var now: Duration { get }
  /// What the calendar says. It may jump.
  var date: Date { get }
  /// Runs `action` once, after `delay`. Dropping the result does not cancel it.
  @discardableResult
  func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction
}

/// Something that a clock will do.
@AutomergeRepo
public protocol ScheduledAction: AnyObject, Sendable {
  /// Keeps it from happening; nothing if it has.
  func cancel()
}

/// The system's time, for programs without a loop.
public final class SystemClock: RepoClock {
  private let start = ContinuousClock.now

  public nonisolated init() {}

  public var now: Duration { ContinuousClock.now - start }
  public var date: Date { Date() }

  public func schedule(
    after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void
  ) -> any ScheduledAction {
    SleepingTask(
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
