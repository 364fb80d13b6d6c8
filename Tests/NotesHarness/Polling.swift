import TestSupport

/// Looking again and again at what reports no change: another process's screen, its end, a server's figures.
public enum Polling {
  /// Returns true as soon as the condition holds, and false if it does not hold in time.
  public static func comesTrue(
    within duration: Duration = Patience.hang, lookingEvery interval: Duration = .milliseconds(20),
    _ condition: () throws -> Bool
  ) rethrows -> Bool {
    let deadline = ContinuousClock.now + duration
    while try !condition() {
      guard ContinuousClock.now < deadline else { return false }
      pass(interval)
    }
    return true
  }

  /// Whether the condition holds now and still holds after this time: what a terminal shows is a little late.
  public static func holds(for duration: Duration, _ condition: () throws -> Bool) rethrows -> Bool {
    guard try condition() else { return false }
    pass(duration)
    return try condition()
  }

  /// A rest of a random length between two random actions, so that the seed varies how actions and messages interleave.
  /// It waits for nothing, and no result may depend on its length.
  public static func randomRest(milliseconds: Int) { pass(.milliseconds(milliseconds)) }

  /// The time over which a benchmark measures.
  public static func measure(for duration: Duration) { pass(duration) }

  private static func pass(_ duration: Duration) {
    let end = ContinuousClock.now + duration
    // One call returns after a tenth of a second.
    while ContinuousClock.now < end { ChildProcess.waitForActivity(of: [], until: end) }
  }
}
