import AutomergeRepo
import PeerTransport

/// Closes strangers' links after a while, unless this person waits for the peer. One timer serves all of them, because
/// thousands of callers may come and go in that time.
@AutomergeRepo
final class StrangerExpiry {
  private let clock: any RepoClock
  private let strangers: @AutomergeRepo () -> [StrangerLinks.Link]
  private let close: @AutomergeRepo (ObjectIdentifier) -> Void
  private var timer: (any ScheduledAction)?

  init(
    clock: any RepoClock, strangers: @escaping @AutomergeRepo () -> [StrangerLinks.Link],
    close: @escaping @AutomergeRepo (ObjectIdentifier) -> Void
  ) {
    (self.clock, self.strangers, self.close) = (clock, strangers, close)
  }

  /// Call when there is another stranger.
  func schedule() {
    let strangers = strangers()
    guard timer == nil, !strangers.isEmpty else { return }
    let now = clock.now
    let next = strangers.map { $0.openedAt + StrangerLinks.maximumIdleTime }.filter { $0 > now }.min()
    timer = clock.schedule(after: next.map { $0 - now } ?? StrangerLinks.maximumIdleTime) { [weak self] in
      guard let self else { return }
      self.timer = nil
      let due = self.clock.now - StrangerLinks.maximumIdleTime
      for stranger in self.strangers() where stranger.openedAt <= due && !stranger.isAwaited { self.close(stranger.id) }
      self.schedule()
    }
  }

  func stop() { timer?.cancel() }
}
