/// Limits the lines that one peer can write on the screen, whatever it does to cause them.
///
/// Lines over the limit are held for a minute. Of the lines about one subject, such as the access to one note, only the last
/// is kept: it tells the state that counts.
struct NewsLimit<Line: Sendable>: Sendable {
  /// Source of all limits: PeerProtocol.md, "Lines on the screen".
  static var maximumPerPeriod: Int { 12 }
  static var period: Duration { .seconds(60) }
  /// The most lines shown at the end of the minute: those of the last subjects, and one for all others.
  static var maximumHeldTold: Int { 4 }
  /// How many subjects of a peer are held; of further ones, only the number.
  static var maximumSubjects: Int { 64 }
  /// How many peers have a count of their own; all further ones share one.
  static var maximumPeers: Int { 1024 }

  struct Held: Sendable {
    var line: Line
    /// How many lines were held about the subject.
    var count: Int
  }

  /// The lines to show when a minute has passed.
  struct Summary: Sendable {
    /// The last line about each of the last subjects, the oldest first.
    var held: [Held] = []
    /// How many other lines were held.
    var otherCount = 0
  }

  private struct Peer {
    /// When lines were shown within the period.
    var times: [Duration] = []
    var held: [String: Held] = [:]
    /// The subjects, the one with the latest line last.
    var order: [String] = []
    var otherCount = 0
    var isHolding: Bool { !held.isEmpty || otherCount > 0 }
  }

  enum Verdict: Equatable, Sendable {
    case tell
    /// The line is held. With the first one, `peer` begins a minute; pass it to `summary` at its end.
    case hold(beginsMinuteOf: String?)
  }

  private var peers: [String: Peer] = [:]
  /// When to look again for peers that have caused nothing lately.
  private var nextSweep: Duration = .zero

  /// - Parameters:
  ///   - peer: the peer that caused the line; the same for all causes that are not known
  ///   - subject: whose state the line reports
  mutating func verdict(on line: Line, about subject: String, of peer: String, at now: Duration) -> Verdict {
    let peer = place(for: peer, at: now)
    var entry = peers[peer] ?? Peer()
    defer { peers[peer] = entry }
    entry.times.removeAll { now - $0 >= Self.period }
    guard entry.isHolding || entry.times.count >= Self.maximumPerPeriod else {
      entry.times.append(now)
      return .tell
    }
    let begins = !entry.isHolding
    if let count = entry.held[subject]?.count {
      entry.order.removeAll { $0 == subject }
      entry.held[subject] = Held(line: line, count: count + 1)
      entry.order.append(subject)
    } else {
      if entry.order.count >= Self.maximumSubjects {
        entry.otherCount += entry.held.removeValue(forKey: entry.order.removeFirst())?.count ?? 0
      }
      entry.held[subject] = Held(line: line, count: 1)
      entry.order.append(subject)
    }
    return .hold(beginsMinuteOf: begins ? peer : nil)
  }

  /// The name under which the peer is counted.
  private mutating func place(for peer: String, at now: Duration) -> String {
    guard peers.count >= Self.maximumPeers, peers[peer] == nil else { return peer }
    if now >= nextSweep {
      nextSweep = now + .seconds(1)
      peers = peers.filter { entry in
        entry.value.isHolding || entry.value.times.contains { now - $0 < Self.period }
      }
    }
    return peers.count >= Self.maximumPeers ? "" : peer
  }

  /// Ends the minute that began with the first line held. The returned lines count as shown now.
  mutating func summary(of peer: String, at now: Duration) -> Summary {
    guard var entry = peers[peer] else { return Summary() }
    let room =
      entry.order.count + min(1, entry.otherCount) > Self.maximumHeldTold
      ? Self.maximumHeldTold - 1 : Self.maximumHeldTold
    let told = entry.order.suffix(room), left = entry.order.dropLast(told.count)
    let summary = Summary(
      held: told.compactMap { entry.held[$0] },
      otherCount: left.reduce(entry.otherCount) { $0 + (entry.held[$1]?.count ?? 0) })
    entry.times += Array(repeating: now, count: summary.held.count + min(1, summary.otherCount))
    (entry.held, entry.order, entry.otherCount) = ([:], [], 0)
    peers[peer] = entry
    return summary
  }
}
