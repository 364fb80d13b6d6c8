/// Decides the role of this process among those of one store: one is the hub, and the others are connected to it.
///
///     seeking ──has the lock──► hub
///      │   ▲
///      │   └──lost──┐
///      └──reached──► spoke
///
/// The kernel holds the lock, so it is free as soon as the hub has died, however it died.
struct SiblingElection {
  /// The first pause when there is neither the lock nor an answer, because the hub has just died or started.
  static let firstPause: Duration = .milliseconds(20)
  static let maximumPause: Duration = .milliseconds(500)

  enum Event: Equatable {
    case started
    /// The outcome of trying to lock.
    case locked, refused
    /// The outcome of calling the hub.
    case reached, failed
    case lost
    case timerFired
  }

  enum Effect: Equatable {
    /// Answer with `locked` or `refused`.
    case tryLock
    /// Answer with `reached` or `failed`.
    case call
    case listen
    case startTimer(Duration)
  }

  private enum State {
    case idle
    case seeking(pause: Duration)
    case spoke
    case hub
  }

  private var state = State.idle

  var isHub: Bool { if case .hub = state { true } else { false } }

  mutating func receive(_ event: Event) -> [Effect] {
    switch (state, event) {
    case (.idle, .started), (.spoke, .lost):
      state = .seeking(pause: Self.firstPause)
      return [.tryLock]
    case (.seeking, .timerFired): return [.tryLock]
    case (.seeking, .locked):
      state = .hub
      return [.listen]
    case (.seeking, .refused): return [.call]
    case (.seeking, .reached):
      state = .spoke
      return []
    case (.seeking(let pause), .failed), (.seeking(let pause), .lost):
      state = .seeking(pause: min(pause * 2, Self.maximumPause))
      return [.startTimer(pause)]
    case (.idle, .locked), (.idle, .refused), (.idle, .reached), (.idle, .failed), (.idle, .lost), (.idle, .timerFired),
      (.seeking, .started),
      (.spoke, .started), (.spoke, .locked), (.spoke, .refused), (.spoke, .reached), (.spoke, .failed),
      (.spoke, .timerFired),
      (.hub, .started), (.hub, .locked), (.hub, .refused), (.hub, .reached), (.hub, .failed), (.hub, .lost),
      (.hub, .timerFired):
      return []
    }
  }
}
