import AutomergeRepo
import Foundation
import UV

/// The event loop's time.
public final class LoopClock: RepoClock {
  private let loop: Loop

  public nonisolated init(_ loop: Loop) { self.loop = loop }

  public var now: Duration { MonotonicTime.now }
  public var date: Date { Date() }

  public func schedule(
    after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void
  ) -> any ScheduledAction {
    let scheduled = LoopAction()
    // If libuv has no memory for a timer, the action never runs, as if cancelled.
    scheduled.timer = try? loop.after(delay) { AutomergeRepo.assumeIsolated { action() } }
    return scheduled
  }

  private final class LoopAction: ScheduledAction {
    var timer: UV.Timer?

    func cancel() {
      timer?.close()
      timer = nil
    }
  }
}
