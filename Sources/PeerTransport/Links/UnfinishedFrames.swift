import AutomergeRepo

/// Limits the received bytes of unfinished long messages. One peer may fill a frame, and all together may send little more.
@AutomergeRepo
package final class UnfinishedFrames {
  /// Messages longer than this count. Source of both: PeerProtocol.md, "Links".
  package nonisolated static let longByteCount = 1 << 20
  /// Beyond this the peer whose message arrives most slowly is cut off.
  package var maximumByteCount = 96 << 20

  private let links: @AutomergeRepo () -> [PeerLink]

  package nonisolated init(_ links: @escaping @AutomergeRepo () -> [PeerLink]) { self.links = links }

  package var byteCount: Int { long.reduce(0) { $0 + $1.unfinishedByteCount } }

  private var long: [PeerLink] { links().filter { $0.isOpen && $0.hasUnfinished } }

  /// Call when more of a long message has come.
  /// - Complexity: O(n) in the links
  package func grew(at now: Duration) {
    while byteCount > maximumByteCount, let slowest = long.min(by: { $0.frameRate(at: now) < $1.frameRate(at: now) }) {
      slowest.close(.lost(reason: "its message does not come to an end"), politely: false)
    }
  }
}
