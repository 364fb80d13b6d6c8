/// Which part this process plays among those of one store: one is the hub, the others are connected to it.
///
///     seeking ──has the lock──► hub
///      │   ▲
///      │   └──lost──┐
///      └──reached──► spoke
///
/// The lock is the kernel's, so it is free as soon as the hub has died, however it died.
struct SiblingElection {
  /// How soon it is tried again when there is neither the lock nor an answer: a hub that has just died or begun.
  static let firstPause: Duration = .milliseconds(20)
  static let maximumPause: Duration = .milliseconds(500)

  enum Event: Equatable {
    case started
    /// What trying to lock has come to.
    case locked, refused
    /// What calling the hub has come to.
    case reached, failed
    case lost
    case timerFired
  }

  enum Effect: Equatable {
    /// To be answered with `locked` or `refused`.
    case tryLock
    /// To be answered with `reached` or `failed`.
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
