/// Notices that sent bytes do not arrive, long before the connection counts as dead.
///
/// The kernel retransmits after ever longer pauses, and goes on pausing when the network is back. A new call gets through at
/// once.
struct Transit {
  /// How often to look while something is on its way.
  static let interval: Duration = .milliseconds(500)
  /// So long the kernel's own pauses are short enough.
  static let patience: Duration = .milliseconds(1500)
  /// How often to call anew then, and after `eagerTime`.
  static let pause: Duration = .seconds(1)
  static let longPause: Duration = .seconds(5)
  static let eagerTime: Duration = .seconds(60)

  private var stuckSince: Duration?
  private var lastCall: Duration?

  var isStuck: Bool { stuckSince != nil }

  /// - Parameters:
  ///   - waiting: bytes sent but not acknowledged; nil if unknown.
  ///   - isAnswered: whether the other machine has acknowledged anything since the last retransmission.
  /// - Returns: whether to call anew.
  mutating func look(waiting: Int?, isAnswered: Bool, at now: Duration) -> Bool {
    guard let waiting, waiting > 0, !isAnswered else {
      (stuckSince, lastCall) = (nil, nil)
      return false
    }
    let since = stuckSince ?? now
    stuckSince = since
    let pause = now - since < Transit.eagerTime ? Transit.pause : Transit.longPause
    guard now - since >= Transit.patience, lastCall.map({ now - $0 >= pause }) ?? true else { return false }
    lastCall = now
    return true
  }
}
