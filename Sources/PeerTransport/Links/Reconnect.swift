/// Decides when to redial a peer: at once, then after increasing pauses, without end.
///
///     off ──wanted──► dialing ──connected──► connected
///                      ▲   │ failed             │ lost
///                      │   ▼                    │
///                     pausing ◄─────────────────┘
public struct Reconnect: Sendable {
  /// Source: PeerProtocol.md, "Staying connected".
  public static let minimumPause: Duration = .milliseconds(100)
  public static let maximumPause: Duration = .seconds(30)
  /// The longest pause after an unanswered call to a peer that was lost on a network of this machine. With the second
  /// that such a call may take, the peer is called every two seconds or more often.
  public static let maximumPauseNearby: Duration = .milliseconds(700)
  /// How long after the loss the pauses stay this short.
  public static let eagerTime: Duration = .seconds(600)
  /// The longest pause before a lost server is called again: this, or the time since the loss divided by `pausePart`,
  /// whichever is longer. A server is expected back soon; but since it may have many callers, they become more patient the longer
  /// it stays away.
  public static let maximumPauseOfServer: Duration = .seconds(1)
  public static let pausePart = 32

  /// A connection that ends sooner than this counts as a failed call: the peer may end every one. The pause then grows to
  /// `maximumPauseAfterLoss`.
  public static let minimumConnection: Duration = .seconds(1)
  public static let maximumPauseAfterLoss: Duration = .seconds(1)

  public enum Event: Hashable, Sendable {
    case wanted
    /// There is a connection, whichever side dialled.
    case connected
    case lost
    case failed
    /// A call got no answer from a peer that was last reached on a network of this machine, or is announced there.
    case unanswered
    case timerFired
    /// The peer can probably be reached now.
    case found
    case unwanted
  }

  public enum Effect: Hashable, Sendable {
    case dial
    case startTimer(Duration)
    case cancelTimer
  }

  private enum State {
    case off
    case dialing
    case connected
    case pausing
  }

  /// The most calls that news may cause at once; each ends by itself.
  private static let maximumCalls = 3

  private let isServer: Bool
  private var state = State.off
  /// Nil if it was never connected.
  private var lostAt: Duration?
  private var failures = 0
  private var connectedAt = Duration.zero
  /// The calls in progress while dialing. What was sent while there was no network is retransmitted only after seconds,
  /// so news justifies another call.
  private var calls = 0

  /// - Parameter isServer: whether the peer should always be online
  public init(isServer: Bool = false) { self.isServer = isServer }

  /// - Parameter jitter: a random number from 0 to 1, so that peers which lost each other do not all call at once
  public mutating func receive(_ event: Event, jitter: Double, at now: Duration) -> [Effect] {
    switch (state, event) {
    case (.off, .wanted):
      (state, calls) = (.dialing, 1)
      return [.dial]
    case (.dialing, .connected), (.pausing, .connected), (.off, .connected):
      let wasPausing = if case .pausing = state { true } else { false }
      (state, connectedAt) = (.connected, now)
      return wasPausing ? [.cancelTimer] : []
    case (.dialing, .failed) where calls > 1, (.dialing, .unanswered) where calls > 1:
      calls -= 1
      return []
    case (.dialing, .failed), (.dialing, .unanswered), (.connected, .lost):
      if case .connected = state {
        lostAt = now
        if now - connectedAt >= Self.minimumConnection { failures = 0 }
      }
      state = .pausing
      let pause = min(pauseLimit(after: event, at: now), Self.minimumPause * (1 << min(failures, 16)))
      failures += 1
      return [.startTimer(pause * (0.5 + min(1, max(0, jitter)) / 2))]
    case (.pausing, .timerFired):
      (state, calls) = (.dialing, 1)
      return [.dial]
    case (.pausing, .found):
      (state, calls) = (.dialing, 1)
      failures = 0
      return [.cancelTimer, .dial]
    case (.dialing, .found):
      failures = 0
      guard calls < Self.maximumCalls else { return [] }
      calls += 1
      return [.dial]
    case (.pausing, .unwanted):
      state = .off
      return [.cancelTimer]
    case (.dialing, .unwanted), (.connected, .unwanted), (.off, .unwanted):
      state = .off
      return []
    case (.off, .found), (.connected, .found):
      return []
    case (.off, .unanswered), (.connected, .unanswered), (.pausing, .unanswered), (.off, .lost), (.off, .failed),
      (.off, .timerFired), (.dialing, .wanted), (.dialing, .lost),
      (.dialing, .timerFired), (.connected, .wanted), (.connected, .connected), (.connected, .failed),
      (.connected, .timerFired), (.pausing, .wanted), (.pausing, .lost), (.pausing, .failed):
      return []
    }
  }

  private func pauseLimit(after event: Event, at now: Duration) -> Duration {
    guard let lostAt else { return Self.maximumPause }
    if event == .lost { return Self.maximumPauseAfterLoss }
    if isServer { return min(Self.maximumPause, max(Self.maximumPauseOfServer, (now - lostAt) / Self.pausePart)) }
    return event == .unanswered && now - lostAt < Self.eagerTime ? Self.maximumPauseNearby : Self.maximumPause
  }
}
