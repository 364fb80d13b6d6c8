import AutomergeRepo

/// Limits how often the screen reports that a met peer connects or leaves: a link that keeps breaking does not deserve
/// a line each time, and a peer that hangs up and redials must not fill a screen.
struct ArrivalLimit {
  /// Source: PeerProtocol.md, "Trust".
  static let maximumPerPeriod = 6
  static let period: Duration = .seconds(10 * 60)

  /// How long lists of people wait for further arrivals and departures.
  static let pause: Duration = .milliseconds(200)

  private var times: [PeerId: [Duration]] = [:]
  private var isPaused = false
  /// When we last warned that another peer uses a peer's name.
  private var warnings: [PeerId: Duration] = [:]
  static let maximumWarningsPerHour = 3

  /// Whether to warn now that another peer uses this peer's name: once an hour, and three times an hour for all peers,
  /// since a stranger may take the names of all our friends in turn.
  mutating func allowsWarning(of owner: PeerId, at now: Duration) -> Bool {
    warnings = warnings.filter { now - $0.value < .seconds(60 * 60) }
    guard warnings[owner] == nil, warnings.count < Self.maximumWarningsPerHour else { return false }
    warnings[owner] = now
    return true
  }

  /// Whether a pause begins now, and there is none yet.
  mutating func beginPause() -> Bool {
    defer { isPaused = true }
    return !isPaused
  }

  mutating func endPause() { isPaused = false }

  /// Whether the event may be reported once more.
  mutating func allows(_ peer: PeerId, at now: Duration) -> Bool {
    let recent = (times[peer] ?? []).filter { now - $0 < Self.period }
    guard recent.count < Self.maximumPerPeriod else { return false }
    times[peer] = recent + [now]
    return true
  }
}
