/// Decides when to open a connection, and when to open it again.
///
///     idle ──started──► connecting ──connected──► connected ──answered──► working
///                        ▲    │ failed              │ lost                  │ lost
///                        │    ▼                     ▼                       │
///                        └─ pausing ◄───────────────┴───────────────────────┘
///
/// The pause doubles with each failure, and is short again once a statement was answered. It is shortened at random, so
/// that not all processes connect at once to a server that has just started.
struct Reconnection {
  static let firstPause: Duration = .milliseconds(50)
  /// Short, because edits wait meanwhile: the store reconnects within a second of the database's return.
  static let maximumPause: Duration = .milliseconds(1000)

  enum Event: Equatable { case started, connected, failed, answered, lost, timerFired, stopped }
  enum Effect: Equatable {
    /// Answer with `connected` or `failed`.
    case connect
    case startTimer(Duration)
    /// Close the connection, or the one that is being opened.
    case close
  }

  private enum State {
    case idle
    case connecting(pause: Duration)
    case connected(pause: Duration)
    case working
    case pausing(next: Duration)
    case stopped
  }

  private var state = State.idle

  var isStopped: Bool { if case .stopped = state { true } else { false } }

  mutating func receive(_ event: Event, using random: inout some RandomNumberGenerator) -> [Effect] {
    switch (state, event) {
    case (.stopped, .connected): return [.close]
    case (.stopped, _): return []
    case (_, .stopped):
      state = .stopped
      return [.close]
    case (.idle, .started):
      state = .connecting(pause: Self.firstPause)
      return [.connect]
    case (.connecting(let pause), .connected):
      state = .connected(pause: pause)
      return []
    case (.connecting(let pause), .failed), (.connected(let pause), .lost):
      return self.pause(pause, using: &random)
    case (.connected, .answered):
      state = .working
      return []
    case (.working, .lost):
      return self.pause(Self.firstPause, using: &random)
    case (.pausing(let next), .timerFired):
      state = .connecting(pause: next)
      return [.connect]
    case (.idle, .connected), (.idle, .failed), (.idle, .answered), (.idle, .lost), (.idle, .timerFired),
      (.connecting, .started), (.connecting, .answered), (.connecting, .lost), (.connecting, .timerFired),
      (.connected, .started), (.connected, .connected), (.connected, .failed), (.connected, .timerFired),
      (.working, .started), (.working, .connected), (.working, .failed), (.working, .answered), (.working, .timerFired),
      (.pausing, .started), (.pausing, .connected), (.pausing, .failed), (.pausing, .answered), (.pausing, .lost):
      return []
    }
  }

  /// Pauses for at least half of `maximum`.
  private mutating func pause(_ maximum: Duration, using random: inout some RandomNumberGenerator) -> [Effect] {
    state = .pausing(next: min(maximum * 2, Self.maximumPause))
    return [.startTimer(maximum * Double.random(in: 0.5...1, using: &random))]
  }
}
