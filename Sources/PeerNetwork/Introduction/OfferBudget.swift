import AutomergeRepo
import Foundation

/// Limits the invitations that this person gets from strangers.
///
/// The inviter can compute the digits first. An attacker could break off if they do not match, before the person sees
/// anything, and try again under a new key. So every offer costs one try when our number is revealed; the try is
/// returned when the invitation is shown to this person, and taken again when it is withdrawn. No new key, link or
/// restart gives further tries.
struct OfferBudget: Equatable, Sendable {
  /// Source of all limits: PeerProtocol.md, "Invitations".
  static let maximumBrokenOff = 3
  static let maximumOffers = 16
  static let period: Duration = .seconds(60 * 60)

  /// An offer that costs a try. The inviter chooses the id, so several may have the same one.
  private struct Try: Equatable {
    var id: [UInt8]
    /// When it began or was withdrawn.
    var at: Duration
  }

  /// The latest last.
  private var unpaid: [Try] = []
  /// The times of offers, whatever their outcome.
  private var begun: [Duration] = []
  /// Whether this person knows that further offers are refused.
  private var hasTold = false

  init() {}

  /// Accepts one more offer, or refuses it.
  ///
  /// - Parameter replaced: how many invitations that this person has seen it replaces; they count as withdrawn
  mutating func begin(_ id: [UInt8], inPlaceOf replaced: Int = 0, at now: Duration) -> Bool {
    forgetOld(at: now)
    guard unpaid.count + replaced < Self.maximumBrokenOff, begun.count < Self.maximumOffers else {
      return false
    }
    unpaid.append(Try(id: id, at: now))
    begun.append(now)
    hasTold = false
    return true
  }

  /// Call when the invitation is shown to this person.
  mutating func opened(_ id: [UInt8]) {
    if let index = unpaid.lastIndex(where: { $0.id == id }) { unpaid.remove(at: index) }
  }

  /// Call when the invitation was shown to this person and then withdrawn.
  mutating func withdrawn(_ id: [UInt8], at now: Duration) {
    if unpaid.count >= Self.maximumOffers { unpaid.removeFirst() }
    unpaid.append(Try(id: id, at: now))
  }

  /// Whether to tell this person that further offers are refused; true once.
  mutating func tells() -> Bool {
    defer { hasTold = true }
    return !hasTold
  }

  private mutating func forgetOld(at now: Duration) {
    unpaid.removeAll { now - $0.at >= Self.period }
    begun.removeAll { now - $0 >= Self.period }
  }

  // MARK: As a record

  /// Stored by the calendar: the monotonic clock restarts with the machine.
  func record(now: Duration, date: Date) -> CBOR {
    func dates(_ times: some Sequence<Duration>) -> CBOR {
      .array(times.map { .float(date.timeIntervalSince1970 - (now - $0) / .seconds(1)) })
    }
    return .record(["brokenOff": dates(unpaid.map(\.at)), "begun": dates(begun)])
  }

  /// Times in the future, as after the calendar was set back, count as now.
  init(record: CBOR, now: Duration, date: Date) {
    func times(_ key: String) -> [Duration] {
      (record[key]?.array ?? []).compactMap(\.double).prefix(Self.maximumOffers).map { time in
        let age = date.timeIntervalSince1970 - time
        return now - .seconds(age.isFinite ? min(max(0, age), 1e9) : 0)
      }
    }
    // No inviter can resume these, because no invitation has such an id.
    unpaid = times("brokenOff").sorted().map { Try(id: [], at: $0) }
    begun = times("begun")
    forgetOld(at: now)
  }
}
