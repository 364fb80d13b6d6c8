import AutomergeRepo

/// Measures how late the loop runs what is due, which is how long it was busy with something else.
@AutomergeRepo
public final class LoopDelay {
  /// The interval between two measurements.
  static let interval: Duration = .milliseconds(50)

  private let clock: any RepoClock
  public private(set) var delays = LatencyHistogram()
  private var isStopped = false

  public init(clock: any RepoClock) { self.clock = clock }

  /// Measures from now on, until `stop`.
  public func start() {
    let due = clock.now + Self.interval
    clock.schedule(after: Self.interval) { [weak self] in
      guard let self, !self.isStopped else { return }
      self.delays.note(max(.zero, self.clock.now - due))
      self.start()
    }
  }

  public func stop() { isStopped = true }
}
