import AutomergeRepo

/// Limits the received bytes of unfinished messages: of one peer to the length of a frame, of all together to a fixed
/// total.
@AutomergeRepo
package final class UnfinishedFrames {
  /// A link with no more than this is never cut off. Source of both limits: PeerProtocol.md, "Links".
  package nonisolated static let longByteCount = 64 << 10
  /// Beyond this total, the peer is cut off whose message arrives most slowly, of those that have more than their share
  /// of it.
  package var maximumByteCount = 96 << 20
  package private(set) var byteCount = 0

  private let links: @AutomergeRepo () -> [PeerLink]

  package nonisolated init(_ links: @escaping @AutomergeRepo () -> [PeerLink]) { self.links = links }

  /// Call when the received bytes of a link's unfinished message have changed.
  /// - Complexity: O(1), and O(n) in the links for each that is cut off
  package func changed(by growth: Int, at now: Duration) {
    byteCount += growth
    guard growth > 0 else { return }
    while byteCount > maximumByteCount, let slowest = slowest(at: now) {
      slowest.close(.lost(reason: "its message does not come to an end"), politely: false)
    }
  }

  private func slowest(at now: Duration) -> PeerLink? {
    let all = links()
    let share = max(Self.longByteCount, maximumByteCount / max(1, all.count))
    return all.filter { $0.isOpen && $0.hasUnfinished && $0.unfinishedByteCount > share }
      .min { $0.frameRate(at: now) < $1.frameRate(at: now) }
  }
}
