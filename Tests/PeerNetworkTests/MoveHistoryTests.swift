import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import PeerNetwork

/// Where a document is now that has moved, perhaps more than once.
struct MoveHistoryTests {
  private func move(
    _ document: UInt8, to successor: UInt8, removed: Set<PeerId> = [], isFollowed: Bool = true
  ) throws -> DocumentMove {
    DocumentMove(
      document: try #require(DocumentId(bytes: [UInt8](repeating: document, count: 16))),
      successor: try #require(DocumentId(bytes: [UInt8](repeating: successor, count: 16))), heads: [],
      removed: removed, host: nil, isFollowed: isFollowed)
  }

  @Test func aGuestThatMissedMovesIsToldOfTheLastAndOfAllThatWereRemoved() throws {
    let (ben, eve) = (PeerId("ben"), PeerId("eve"))
    var history = MoveHistory()
    let moves = [try move(1, to: 2, removed: [ben]), try move(2, to: 3, removed: [eve])]
    for move in moves { history.record(move) }
    let current = history.current(moves[0])
    #expect(current.document == moves[0].document && current.successor == moves[1].successor)
    #expect(current.removed == [ben, eve])
    #expect(history.current(moves[1]) == moves[1])
  }

  @Test func movesInACircleEnd() throws {
    var history = MoveHistory()
    let moves = [try move(1, to: 2), try move(2, to: 1)]
    for move in moves { history.record(move) }
    #expect(history.current(moves[0]).document == moves[0].document)
  }

  @Test func aMoveIsNewUntilItIsFollowed() throws {
    var history = MoveHistory()
    let first = try move(1, to: 2, isFollowed: false)
    let elsewhere = try move(1, to: 3)
    #expect(history.isNews(first))
    history.record(first)
    #expect(history.toFollow == [first])
    #expect(!history.isNews(first) && history.isNews(elsewhere))
    history.record(try move(1, to: 2))
    #expect(history.toFollow.isEmpty && !history.isNews(elsewhere))
  }
}
