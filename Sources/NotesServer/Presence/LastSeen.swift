import AutomergeRepo
import Foundation

/// When the connection to each person last ended, while this process has been running. Strangers, who may connect without
/// end under new keys, are not counted, and fellow guests take no friend's place.
struct LastSeen: Sendable {
  /// The most fellow guests, whom another person's list named.
  static let maximumGuests = 1024

  private var dates: [PeerId: Date] = [:]
  private var guests: Set<PeerId> = []
  var count: Int { dates.count }

  subscript(peer: PeerId) -> Date? { dates[peer] }

  mutating func saw(_ peer: PeerId, _ standing: PeerStanding, at date: Date) {
    switch standing {
    case .met: guests.remove(peer)
    case .introduced:
      guard guests.count < Self.maximumGuests || dates[peer] != nil else { return }
      guests.insert(peer)
    case .stranger: return
    }
    dates[peer] = date
  }
}
