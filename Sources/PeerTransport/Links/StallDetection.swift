import AutomergeRepo

/// Notices that sent bytes do not arrive, long before the connection counts as dead.
///
/// The kernel retransmits after increasing pauses, and continues to pause when the network is back. A new connection
/// gets through at once, so the peer is redialled.
package struct StallDetection {
  /// How often to check while bytes are on their way.
  package static let interval: Duration = .milliseconds(500)
  /// Until this time the kernel's own pauses are short enough.
  package static let patience: Duration = .milliseconds(1500)
  /// How often to redial after that, and after `eagerTime`.
  package static let pause: Duration = .seconds(1)
  package static let longPause: Duration = .seconds(5)
  package static let eagerTime: Duration = .seconds(60)

  private var stalledSince: Duration?
  private var lastRedial: Duration?

  package var isStalled: Bool { stalledSince != nil }

  /// - Parameters:
  ///   - waiting: bytes sent but not acknowledged; nil if unknown.
  ///   - isAnswered: whether the other machine has acknowledged anything since the last retransmission.
  /// - Returns: whether to redial.
  package mutating func look(waiting: Int?, isAnswered: Bool, at now: Duration) -> Bool {
    guard let waiting, waiting > 0, !isAnswered else {
      (stalledSince, lastRedial) = (nil, nil)
      return false
    }
    let since = stalledSince ?? now
    stalledSince = since
    let pause = now - since < Self.eagerTime ? Self.pause : Self.longPause
    guard now - since >= Self.patience, lastRedial.map({ now - $0 >= pause }) ?? true else { return false }
    lastRedial = now
    return true
  }
}

/// Checks regularly whether a link's sent bytes arrive, while any are on their way.
@AutomergeRepo
package final class StallWatch {
  private let transport: any Transport
  private let clock: any RepoClock
  private var detection = StallDetection()
  private var timer: (any ScheduledAction)?

  package init(_ transport: any Transport, clock: any RepoClock) { (self.transport, self.clock) = (transport, clock) }

  /// Whether sent bytes had not arrived at the last check.
  package var isStalled: Bool { detection.isStalled }

  /// Call when something has been sent.
  ///
  /// - Parameter onStall: called when the bytes do not arrive, and again until they do
  package func watch(onStall: @escaping @AutomergeRepo () -> Void) {
    guard timer == nil, !transport.isWithinMachine, transport.isOpen else { return }
    timer = clock.schedule(after: StallDetection.interval) { [weak self] in
      guard let self, self.transport.isOpen else { return }
      self.timer = nil
      let delivery = self.transport.delivery
      let waiting = delivery?.waitingByteCount
      let isAnswered = delivery?.retransmissionCount == 0
      if self.detection.look(waiting: waiting, isAnswered: isAnswered, at: self.clock.now) { onStall() }
      if let waiting, waiting > 0 { self.watch(onStall: onStall) }
    }
  }

  package func stop() { timer?.cancel() }
}
