import AutomergeRepo

/// Limits the received bytes of unfinished long messages: of one peer to the length of a frame, of all together to a
/// fixed total.
@AutomergeRepo
package final class UnfinishedFrames {
  /// Longer messages count. Source of both limits: PeerProtocol.md, "Links".
  package nonisolated static let longByteCount = 1 << 20
  /// Beyond this total, the peer whose message arrives most slowly is cut off.
  package var maximumByteCount = 96 << 20

  private let links: @AutomergeRepo () -> [PeerLink]

  package nonisolated init(_ links: @escaping @AutomergeRepo () -> [PeerLink]) { self.links = links }

  package var byteCount: Int { long.reduce(0) { $0 + $1.unfinishedByteCount } }

  private var long: [PeerLink] { links().filter { $0.isOpen && $0.hasUnfinished } }

  /// Call when more of a long message has arrived.
  /// - Complexity: O(n) in the links
  package func grew(at now: Duration) {
    while byteCount > maximumByteCount, let slowest = long.min(by: { $0.frameRate(at: now) < $1.frameRate(at: now) }) {
      slowest.close(.lost(reason: "its message does not come to an end"), politely: false)
    }
  }
}
