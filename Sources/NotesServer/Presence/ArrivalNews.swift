/// Limits how often the screen reports that a person opened or closed a note, so that these reports cannot fill it.
struct ArrivalNews: Sendable {
  /// Source of all limits: PeerProtocol.md, "Presence".
  static let period: Duration = .seconds(10 * 60)
  /// For each person: in one document, and in all.
  static let maximumInDocument = 6
  static let maximumOfPerson = 24
  /// For all relayed people together, per minute.
  static let maximumRelayed = 12
  static let relayedPeriod: Duration = .seconds(60)
  /// How many people's times are stored; further relayed people are ignored.
  static let maximumPeople = 1024

  private var times: [String: [(document: String, at: Duration)]] = [:]
  private var relayed: [Duration] = []

  /// Whether the screen may report again that a person opened a document.
  ///
  /// - Parameter person: the peer, for all its processes.
  mutating func allows(_ person: String, in document: String, isRelayed: Bool, at now: Duration) -> Bool {
    let recent = (times[person] ?? []).filter { now - $0.at < Self.period }
    guard recent.count < Self.maximumOfPerson, recent.count(where: { $0.document == document }) < Self.maximumInDocument
    else {
      return false
    }
    if isRelayed {
      relayed.removeAll { now - $0 >= Self.relayedPeriod }
      guard relayed.count < Self.maximumRelayed else { return false }
      relayed.append(now)
    }
    if times.count >= Self.maximumPeople {
      times = times.filter { entry in entry.value.contains { now - $0.at < Self.period } }
      if times.count >= Self.maximumPeople, isRelayed { return false }
    }
    times[person] = recent + [(document, now)]
    return true
  }
}
