import AutomergeRepo

/// What has come of long messages that are not whole yet. One peer may send as much as a frame holds, and all together not
/// much more.
@AutomergeRepo
final class UnfinishedFrames {
  /// What of a peer's message counts. Source of both: PeerProtocol.md, "Links".
  nonisolated static let longByteCount = 1 << 20
  /// Beyond this the peer whose message arrives most slowly is cut off.
  var limit = 96 << 20

  private let links: @AutomergeRepo () -> [PeerLink]

  nonisolated init(_ links: @escaping @AutomergeRepo () -> [PeerLink]) { self.links = links }

  var byteCount: Int { long.reduce(0) { $0 + $1.unfinishedByteCount } }

  private var long: [PeerLink] { links().filter { $0.isOpen && $0.unfinishedSince != nil } }

  /// Call when more of a long message has come.
  /// - Complexity: O(n) in the links
  func grew(at now: Duration) {
    while byteCount > limit, let slowest = long.min(by: { $0.frameRate(at: now) < $1.frameRate(at: now) }) {
      slowest.close(.unreachable(slowest.address, reason: "its message does not come to an end"), politely: false)
    }
  }
}
