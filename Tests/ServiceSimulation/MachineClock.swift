import AutomergeRepo
import Foundation
import RepoTestSupport

/// The time on one person's machine: it stands still while the machine sleeps, and its calendar may jump.
@AutomergeRepo
final class MachineClock: RepoClock {
  /// The time that all machines share.
  let base: ManualClock
  /// By how much the machine's calendar is wrong.
  var calendarError: TimeInterval = 0
  private var sleptBefore = Duration.zero
  private var sleep: Range<Duration>?
  /// The timers that have not run, the last one first.
  private var pending: [Timer] = []

  init(_ base: ManualClock) { self.base = base }

  /// The machine's monotonic time, as the system counts it: without the time that it has slept.
  var now: Duration { min(base.now, sleep?.lowerBound ?? base.now) - sleptBefore }

  var date: Date { base.date.addingTimeInterval(calendarError) }

  /// When the machine wakes, in the time that all share; nil if it is awake.
  var wakesAt: Duration? { sleep?.upperBound }

  /// The machine sleeps for this long. If it is asleep already, nothing changes.
  func fallAsleep(for duration: Duration, onWaking action: @escaping @AutomergeRepo () -> Void) {
    guard sleep == nil else { return }
    sleep = base.now..<base.now + duration
    base.schedule(after: duration) { [weak self] in
      self?.wake()
      action()
    }
  }

  private func wake() {
    guard let sleep else { return }
    sleptBefore += sleep.upperBound - sleep.lowerBound
    self.sleep = nil
  }

  @discardableResult
  func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
    let timer = Timer(due: now + max(.zero, delay), body: action)
    // Timers due at the same time are in reverse order, so that the first to run is the last element.
    pending.insert(timer, at: pending.firstIndex { $0.due <= timer.due } ?? pending.count)
    base.schedule(after: delay) { self.tick(for: timer) }
    return timer
  }

  /// Runs the timer that is due first, whichever one the shared clock reports: timers set before a sleep and after it
  /// keep their order.
  private func tick(for timer: Timer) {
    guard !timer.isCancelled else { return }
    if let sleep {
      base.schedule(after: sleep.upperBound - base.now) { self.tick(for: timer) }
    } else if now < timer.due {
      base.schedule(after: timer.due - now) { self.tick(for: timer) }
    } else {
      pending.removeAll(where: \.isCancelled)
      if let first = pending.last, first.due <= now { pending.removeLast().run() }
    }
  }

  private final class Timer: ScheduledAction {
    let due: Duration
    let body: @AutomergeRepo () -> Void
    private(set) var isCancelled = false
    private var hasRun = false

    init(due: Duration, body: @escaping @AutomergeRepo () -> Void) { (self.due, self.body) = (due, body) }

    func run() {
      hasRun = true
      body()
    }

    func cancel() { isCancelled = !hasRun }
  }
}
