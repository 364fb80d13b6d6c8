import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What our person decides about a peer holds, whatever the store does; without a socket.
@Suite struct TrustDecisionsTests {
  /// The disk is full at the decision and at the first attempt to store it again.
  @Test func aPeerThatIsBlockedWhileTheDiskIsFullIsStillBlockedAfterARestart() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let faulty = FaultyStorage(disk)
      let scene = try await DirectoryFixture(storage: faulty)
      let (ben, note) = (Identity().peerId, try DirectoryFixture.document(1))
      try await scene.trust.decide(.trusted, about: ben, name: "Ben")
      try await scene.grants.grant(.write, on: note, to: ben)
      faulty.failSaves(3)
      await #expect(throws: StorageError.full) { try await scene.trust.decide(.blocked, about: ben, name: nil) }
      #expect(scene.registry.isBlocked(ben) && scene.provider.disconnected == [ben], "it counts at once")
      #expect(try await !DirectoryFixture(storage: disk).registry.isBlocked(ben), "the disk was full")
      let clock = scene.network.manualClock
      try await eventually("the store takes it", on: loop) {
        clock.runNext(until: clock.now + TrustDecisions.retryDelay)
        return scene.trust.unstored.isEmpty
      }
      let later = try await DirectoryFixture(storage: disk)
      #expect(later.registry.isBlocked(ben) && later.grants.access(note, for: ben) == .none)
    }
  }
}
