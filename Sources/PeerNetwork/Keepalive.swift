/// Notices that the other end of a connection is gone although nobody said so.
struct Keepalive {
  /// Source: PeerProtocol.md, "Limits".
  static let pingAfter: Duration = .seconds(15)
  static let deadAfter: Duration = .seconds(45)

  enum Effect: Equatable {
    case ping
    case dead
  }

  private var lastHeard: Duration
  private var pinged = false

  init(now: Duration) { lastHeard = now }

  mutating func heard(at now: Duration) {
    lastHeard = now
    pinged = false
  }

  /// To be asked again after `nextCheck`.
  mutating func check(at now: Duration) -> Effect? {
    let silence = now - lastHeard
    if silence >= Keepalive.deadAfter { return .dead }
    guard silence >= Keepalive.pingAfter, !pinged else { return nil }
    pinged = true
    return .ping
  }

  /// How long until there may be something to do.
  func nextCheck(at now: Duration) -> Duration {
    max(.milliseconds(1), lastHeard + (pinged ? Keepalive.deadAfter : Keepalive.pingAfter) - now)
  }
}
