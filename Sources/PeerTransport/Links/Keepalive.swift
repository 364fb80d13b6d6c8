/// Notices that the other end of a connection is gone although no close arrived.
///
///     heard ──15 s of silence──► asked ──again every 15 s──► 45 s: gone, unless its machine still takes what we send
///
/// A program that is busy with a large note does not answer, but its machine still acknowledges what it is sent. A
/// machine that is gone does not.
package struct Keepalive {
  /// How long the other end may be silent.
  package struct Pace: Sendable {
    /// Ping the peer after this much silence, and again after each further such time.
    package let pingAfter: Duration
    package let deadAfter: Duration
    /// How long a program may be silent while its machine still answers.
    package let hungAfter: Duration

    package init(pingAfter: Duration, deadAfter: Duration, hungAfter: Duration) {
      (self.pingAfter, self.deadAfter, self.hungAfter) = (pingAfter, deadAfter, hungAfter)
    }

    /// Source: PeerProtocol.md, "Staying connected".
    package static let peers = Pace(pingAfter: .seconds(15), deadAfter: .seconds(45), hungAfter: .seconds(180))
  }

  /// The time to answer when the other end is believed to be gone.
  package static let probeTime: Duration = .seconds(5)
  /// A check that is this late was delayed by our own work, and what has arrived meanwhile is not read yet.
  package static let lateness: Duration = .seconds(2)

  package enum Effect: Equatable {
    case ping
    case dead
  }

  private let pace: Pace
  private var lastHeard: Duration
  private var lastPing: Duration?
  private var probeEnd: Duration?
  private var due: Duration

  package init(now: Duration, pace: Pace = .peers) {
    (self.pace, lastHeard, due) = (pace, now, now + pace.pingAfter)
  }

  package mutating func heard(at now: Duration) {
    lastHeard = now
    lastPing = nil
    probeEnd = nil
  }

  /// Call when the other end is believed to be gone. Send a ping afterwards, and use `nextCheck`.
  package mutating func probe(at now: Duration) {
    lastPing = now
    probeEnd = now + Self.probeTime
  }

  /// Call again after `nextCheck`.
  ///
  /// - Parameter isThere: whether the other machine acknowledges what we send, or reports a full window
  package mutating func check(at now: Duration, isThere: Bool = false) -> Effect? {
    let silence = now - lastHeard
    if now - due < Self.lateness {
      let isOverdue = lastPing != nil && silence >= pace.deadAfter || probeEnd.map { now >= $0 } ?? false
      if isOverdue, !isThere || silence >= pace.hungAfter { return .dead }
    }
    if let end = probeEnd, now >= end { probeEnd = nil }
    guard now - max(lastHeard, lastPing ?? lastHeard) >= pace.pingAfter else { return nil }
    lastPing = now
    return .ping
  }

  /// How long until there may be something to do.
  package mutating func nextCheck(at now: Duration) -> Duration {
    let next = max(lastHeard, lastPing ?? lastHeard) + pace.pingAfter
    due = max(now + .milliseconds(1), min(next, probeEnd ?? next))
    return due - now
  }
}

/// Notices that the machine has slept: the calendar has advanced, but not the time that only runs while the machine is
/// awake.
package struct WakeWatch {
  /// How often to check.
  package static let interval: Duration = .seconds(5)
  /// More than a clock is usually corrected by between two checks.
  package static let minimumSleepSeconds = 10.0

  private var last: (now: Duration, secondsSince1970: Double)?

  package init() {}

  /// Whether the machine has slept since the last check. Setting the calendar forward looks the same, and does no harm.
  package mutating func look(now: Duration, secondsSince1970: Double) -> Bool {
    defer { last = (now, secondsSince1970) }
    guard let last else { return false }
    let awake = (now - last.now) / .seconds(1)
    return secondsSince1970 - last.secondsSince1970 - awake >= Self.minimumSleepSeconds
  }
}
