import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

struct LastSeenTests {
  private func date(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number)) }

  @Test func theTimeAFriendLeftIsKnownHoweverManyOthersConnected() {
    var seen = LastSeen()
    for number in 0..<5000 {
      seen.saw(PeerId("stranger \(number)"), .stranger, at: date(number))
      seen.saw(PeerId("guest \(number)"), .introduced, at: date(number))
    }
    #expect(seen.count == LastSeen.maximumGuests)
    seen.saw(PeerId("ben"), .met, at: date(6000))
    // A guest whose place in the list is kept, and one that is seen afterwards.
    seen.saw(PeerId("guest 1"), .introduced, at: date(7000))
    seen.saw(PeerId("guest 2"), .met, at: date(7000))
    seen.saw(PeerId("guest 4999"), .introduced, at: date(7000))
    #expect(seen[PeerId("ben")] == date(6000) && seen[PeerId("guest 1")] == date(7000))
    #expect(seen[PeerId("guest 4999")] == date(7000) && seen[PeerId("guest 4998")] == nil)
    #expect(seen[PeerId("stranger 1")] == nil)
  }

  @AutomergeRepo @Test func aServiceRemembersWhenPeopleLeftAndNoStrangers() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 32)))
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    ana.sharing.standing = { $0 == PeerId("ben") ? .met : .stranger }
    for name in ["ben", "eve"] {
      world.start(name)
      world.connect("ana", name)
      try await ana.wait(for: "the link") { ana.service.repo.peers[PeerId(name)] != nil }
      world.disconnect("ana", name)
      try await ana.wait(for: "its end") { ana.service.repo.peers[PeerId(name)] == nil }
    }
    let seen = ana.service.presenceTracker.lastSeen
    #expect(seen[PeerId("ben")] != nil && seen.count == 1)
  }
}
