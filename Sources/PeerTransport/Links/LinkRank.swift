import AutomergeRepo

/// Decides which of two links to one peer stays. Both ends know a link's rank, so they keep the same one, in whatever order
/// the links come up at each.
package struct LinkRank: Hashable, Sendable {
  /// The run of the peer's process.
  private let run: UInt64
  private let round: UInt64
  private let isFromSmaller: Bool
  private let number: UInt64

  /// Nil if one of the two sends no marks.
  ///
  /// - Parameters:
  ///   - call: what the caller said of its call
  ///   - peer: what the other end said of itself, in a call from either end
  ///   - isFromSmaller: whether the end with the smaller peer id called
  package init?(call: CallMark?, peer: CallMark?, isFromSmaller: Bool) {
    guard let call, let peer else { return nil }
    (run, round, number) = (peer.run, call.round, call.number)
    self.isFromSmaller = isFromSmaller
  }

  /// Whether this link, which has come up, takes the place of an older one.
  ///
  /// A caller that has seen a link calls only when that one is of no use to it, in the next round. Calls of one round did
  /// not know of each other: the smaller peer id's stays, and of several of one caller the first.
  package func replaces(_ old: LinkRank) -> Bool {
    // The peer's process has ended, and with it its links.
    if run != old.run { return true }
    if round != old.round { return round > old.round }
    if isFromSmaller != old.isFromSmaller { return isFromSmaller }
    return number <= old.number
  }

  /// The number of the next call to a peer to which there has been a link with this rank.
  package var nextRound: UInt64 { round + 1 }
}
