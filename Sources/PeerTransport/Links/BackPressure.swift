/// Decides what a link does while bytes that it has sent have not left this machine.
///
/// A peer that reads slowly is told nothing new beyond one limit, and is cut off beyond another. From a stranger,
/// nothing is read while its answers wait, either.
package struct BackPressure {
  /// With more unsent bytes than this, a peer is too slow to keep. Source: PeerProtocol.md, "Expensive changes".
  package static let maximumByteCount = 64 << 20
  /// The same for a stranger, from which we stop reading while more than `maximumByteCountWhileReading` wait.
  package static let maximumByteCountOfStranger = 256 << 10
  package static let maximumByteCountWhileReading = 64 << 10
  /// With more unsent bytes than this, a peer is told nothing new until all of them have left; also when many bytes
  /// wait for other peers.
  package static let crowdedByteCount = 1 << 20
  package static let crowdedByteCountAmongMany = 64 << 10

  /// Whether crowding has been reported and not ended since.
  package private(set) var isCrowded = false
  /// A ping arrived while the link was too full to answer. One answer serves all such pings.
  private var owesPong = false

  /// Whether the link may send another message. If not, the peer is cut off.
  package static func permits(unsentByteCount: Int, isTrusted: Bool) -> Bool {
    unsentByteCount <= (isTrusted ? maximumByteCount : maximumByteCountOfStranger)
  }

  /// Whether to stop reading from a peer. Known peers are always read from: two peers that each waited for the other to
  /// read would wait forever.
  package static func pausesReading(unsentByteCount: Int, isTrusted: Bool) -> Bool {
    !isTrusted && unsentByteCount > maximumByteCountWhileReading
  }

  /// Whether the link now counts as crowded, and did not before.
  package mutating func crowds(unsentByteCount: Int, isMuchForAll: @autoclosure () -> Bool) -> Bool {
    guard !isCrowded, unsentByteCount > Self.crowdedByteCount || isMuchForAll() else { return false }
    isCrowded = true
    return true
  }

  /// Whether to answer a ping now. If not, it is answered once everything has left.
  package mutating func answersPing(unsentByteCount: Int) -> Bool {
    guard unsentByteCount > 0 else { return true }
    owesPong = true
    return false
  }

  /// Call when everything has left. Returns whether a ping is still unanswered.
  package mutating func takeOwedPong() -> Bool {
    defer { owesPong = false }
    return owesPong
  }

  /// Call when everything has left. Returns whether the link was crowded until now.
  package mutating func takeCrowding() -> Bool {
    defer { isCrowded = false }
    return isCrowded
  }
}
