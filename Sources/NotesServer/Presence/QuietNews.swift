/// Reports as one line what one person does in one moment: a person who joins a note comes online, is admitted, and
/// opens it.
struct QuietNews: Sendable {
  /// News of a person, by the kinds of `notes/event`.
  enum Verdict: Hashable, Sendable {
    case now
    /// Reported unless there is other news about the person first.
    case after(Duration)
    case never
  }

  /// How long to wait for more specific news about a person who comes online.
  static let patience: Duration = .seconds(1)
  /// Further events within this time read as the same event.
  static let moment: Duration = .seconds(10)
  private static let maximumPeople = 1024

  private var told: [String: (kind: String, at: Duration)] = [:]

  /// - Parameter kind: the kind of the event about the person
  mutating func verdict(on kind: String, of person: String, at now: Duration) -> Verdict {
    let last = told[person].flatMap { now - $0.at < Self.moment ? $0.kind : nil }
    switch (kind, last) {
    case ("online", .some), ("offline", "left"), ("joined", "accepted"), ("joined", "online"): return .never
    case ("online", nil): return .after(Self.patience)
    default:
      note(kind, of: person, at: now)
      return .now
    }
  }

  /// Ends the pause. Returns whether there was no other news about the person meanwhile.
  mutating func isDue(_ kind: String, of person: String, at now: Duration) -> Bool {
    guard told[person].map({ now - $0.at >= Self.moment }) ?? true else { return false }
    note(kind, of: person, at: now)
    return true
  }

  private mutating func note(_ kind: String, of person: String, at now: Duration) {
    if told.count >= Self.maximumPeople { told = told.filter { now - $0.value.at < Self.moment } }
    if told.count < Self.maximumPeople || told[person] != nil { told[person] = (kind, now) }
  }
}
