import Foundation
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// Whose large message is read next, and who pays for it.
struct IncomingTurnsTests {
  /// Peers that want a turn, and the order in which they get one.
  @AutomergeRepo
  private final class Queue {
    private let clock = ManualClock()
    let turns: IncomingTurns
    private(set) var served: [PeerId] = []
    private(set) var withdrawn: [PeerId] = []

    init() { turns = IncomingTurns(clock: clock) { _ in nil } }

    /// How many peers have joined, wherever they are now.
    private var count: Int { turns.waitingCount + served.count + withdrawn.count }

    /// Returns when the peer has its turn or waits for it.
    func join(_ name: String, for messages: AnyObject) async throws {
      let (peer, before) = (PeerId(name), count)
      Task {
        if await self.turns.begin(peer, for: messages) { self.served.append(peer) } else { self.withdrawn.append(peer) }
      }
      try await clock.run(until: "\(name) has joined") { self.count > before }
    }

    /// The peer's portion is read. Returns when the next one has its turn, if one waits.
    func end(_ name: String) async throws {
      let (isAwaited, before) = (turns.waitingCount > 0, served.count)
      turns.end(PeerId(name), excess: 0)
      try await clock.run(until: "the next has its turn") { !isAwaited || self.served.count > before }
    }

    /// Takes messages back. Returns when those that waited for a turn for them have heard of it.
    func withdraw(_ messages: AnyObject) async throws {
      let before = count
      turns.withdraw(messages)
      try await clock.run(until: "all have heard of it") { self.count == before }
    }
  }

  private final class Messages {}

  @Test @AutomergeRepo func thePeerThatHasWaitedLongestSinceItsLastTurnComesFirst() async throws {
    let (queue, messages) = (Queue(), Messages())
    for name in ["ana", "ben", "dora"] {
      try await queue.join(name, for: messages)
      if name != "dora" { try await queue.end(name) }
    }
    // Eva has had no turn yet, and comes last.
    for name in ["ben", "ana", "eva"] { try await queue.join(name, for: messages) }
    for name in ["dora", "eva", "ana"] { try await queue.end(name) }
    #expect(queue.served == ["ana", "ben", "dora", "eva", "ana", "ben"].map { PeerId($0) })
  }

  @Test @AutomergeRepo func aMessageThatIsWithdrawnHasNoTurn() async throws {
    let (queue, anas, bens) = (Queue(), Messages(), Messages())
    try await queue.join("ana", for: anas)
    try await queue.join("ben", for: bens)
    try await queue.join("dora", for: anas)
    try await queue.withdraw(bens)
    #expect(queue.withdrawn == [PeerId("ben")] && queue.served == [PeerId("ana")])
    try await queue.end("ana")
    #expect(queue.served == [PeerId("ana"), PeerId("dora")])
  }

  @Test @AutomergeRepo func aPeerThatCostsNothingHasNoAccount() {
    let turns = IncomingTurns(clock: ManualClock()) { _ in nil }
    turns.end(PeerId("ana"), excess: 0)
    #expect(turns.accountCount == 0)
    turns.end(PeerId("ana"), excess: 1)
    #expect(turns.accountCount == 1)
  }

  @Test @AutomergeRepo func accountsAreClosedWhenThereAreMoreThanTheLimit() {
    let clock = ManualClock()
    let turns = IncomingTurns(clock: clock) { _ in nil }
    func pay(_ number: Int) {
      turns.end(PeerId("peer-\(number)"), excess: 1)
      clock.advance(by: .seconds(60))
    }
    for number in 0..<IncomingTurns.maximumAccounts { pay(number) }
    #expect(turns.accountCount == IncomingTurns.maximumAccounts)
    pay(IncomingTurns.maximumAccounts)
    #expect(turns.accountCount == 1, "all others have their whole budget again")
  }
}
