import AutomergeRepo
import PeerTransport

/// Marks this process's calls, so that their order is known at both ends.
struct CallMarks {
  private let run: UInt64
  private var count: UInt64 = 0
  private var nextRounds: [PeerId: UInt64] = [:]

  init(run: UInt64) { self.run = run }

  /// The mark that this process sends in answer to a call.
  var answer: CallMark { CallMark(run: run) }

  /// The mark of a call that is about to introduce itself to this peer.
  mutating func next(to peer: PeerId) -> CallMark {
    count += 1
    return CallMark(run: run, round: nextRounds[peer] ?? 1, number: count)
  }

  /// Call when there is a link with this rank to a peer that we may call again: later calls are to take its place.
  mutating func saw(_ rank: LinkRank?, of peer: PeerId) {
    guard let rank else { return }
    nextRounds[peer] = max(nextRounds[peer] ?? 1, rank.nextRound)
  }
}
