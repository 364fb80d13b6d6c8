import AutomergeRepo

/// Runs the keepalive of one link: it sends pings, and decides when the other end is gone.
@AutomergeRepo
package final class Heartbeat {
  private let clock: any RepoClock
  private var keepalive: Keepalive
  private var timer: (any ScheduledAction)?
  private var isThere: @AutomergeRepo () -> Bool = { true }
  private var act: (@AutomergeRepo (Keepalive.Effect) -> Void)?

  package init(clock: any RepoClock, pace: Keepalive.Pace = .peers) {
    (self.clock, keepalive) = (clock, Keepalive(now: clock.now, pace: pace))
  }

  /// Starts the checks.
  ///
  /// - Parameters:
  ///   - isThere: whether the other machine acknowledges what it is sent
  ///   - act: what to do when the other end is silent.
  package func start(
    isThere: @escaping @AutomergeRepo () -> Bool, act: @escaping @AutomergeRepo (Keepalive.Effect) -> Void
  ) {
    (self.isThere, self.act) = (isThere, act)
    schedule()
  }

  package func heard() { keepalive.heard(at: clock.now) }

  /// Pings, and gives the other end less time than usual to answer. Call only after `start`.
  package func probe() {
    guard let act else { return }
    keepalive.probe(at: clock.now)
    act(.ping)
    if self.act != nil { schedule() }
  }

  package func stop() {
    timer?.cancel()
    act = nil
  }

  private func schedule() {
    timer?.cancel()
    timer = clock.schedule(after: keepalive.nextCheck(at: clock.now)) { [weak self] in
      guard let self, let act = self.act else { return }
      if let effect = self.keepalive.check(at: self.clock.now, isThere: self.isThere()) { act(effect) }
      if self.act != nil { self.schedule() }
    }
  }
}
