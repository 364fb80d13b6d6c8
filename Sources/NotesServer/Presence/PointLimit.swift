/// Limits how often the screen shows a place at which another person points.
struct PointLimit: Sendable {
  /// Source of all limits: PeerProtocol.md, "Presence".
  static let minimumPause: Duration = .seconds(1)
  static let period: Duration = .seconds(60)
  /// For each person, and for all relayed people together.
  static let maximumPerPeriod = 12
  /// At most this many people's times are kept; relayed people beyond that are ignored.
  static let maximumPeople = 1024

  private var times: [String: [Duration]] = [:]
  private var relayed: [Duration] = []

  /// Whether the screen may show another place at which a person points.
  ///
  /// - Parameter person: the peer, for all its processes and in all documents.
  mutating func allows(_ person: String, isRelayed: Bool, at now: Duration) -> Bool {
    let recent = (times[person] ?? []).filter { now - $0 < Self.period }
    guard recent.count < Self.maximumPerPeriod, recent.last.map({ now - $0 >= Self.minimumPause }) ?? true else {
      return false
    }
    if isRelayed {
      relayed.removeAll { now - $0 >= Self.period }
      guard relayed.count < Self.maximumPerPeriod else { return false }
    }
    if times.count >= Self.maximumPeople, times[person] == nil {
      times = times.filter { $0.value.last.map { now - $0 < Self.period } ?? false }
      if times.count >= Self.maximumPeople, isRelayed { return false }
    }
    if isRelayed { relayed.append(now) }
    times[person] = recent + [now]
    return true
  }
}
