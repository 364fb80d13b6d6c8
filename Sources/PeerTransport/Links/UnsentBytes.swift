import AutomergeRepo

/// Limits the bytes that wait to be sent, for each peer and in total.
@AutomergeRepo
package final class UnsentBytes {
  /// Beyond this total, a peer is told nothing new even if few bytes wait for it. Source of both limits:
  /// PeerProtocol.md, "Expensive changes".
  package static let muchByteCount = 8 << 20
  /// Beyond this total, a peer is cut off: of those that acknowledge nothing, or else of all, the one with the most
  /// unsent bytes.
  package var maximumByteCount = 128 << 20

  private let links: @AutomergeRepo () -> [PeerLink]

  package nonisolated init(_ links: @escaping @AutomergeRepo () -> [PeerLink]) { self.links = links }

  /// - Complexity: O(n) in the links, as for `isMuch`.
  package var byteCount: Int { links().reduce(0) { $0 + $1.unsentByteCount } }

  package var isMuch: Bool { byteCount > UnsentBytes.muchByteCount }

  /// Call when more waits to be sent over a link.
  package func added(by link: PeerLink) {
    guard link.unsentByteCount > BackPressure.crowdedByteCount else { return }
    while byteCount > maximumByteCount, let slowest = slowest {
      slowest.close(.lost(reason: "it does not read what it is sent"), politely: false)
    }
  }

  private var slowest: PeerLink? {
    let candidates = links().filter { $0.isOpen && $0.unsentByteCount > BackPressure.crowdedByteCount }
    return candidates.max { one, other in
      (one.isStalled ? 1 : 0, one.unsentByteCount) < (other.isStalled ? 1 : 0, other.unsentByteCount)
    }
  }
}
