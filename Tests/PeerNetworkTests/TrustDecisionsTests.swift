import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What our person decides about a peer holds, whatever the store does; without a socket.
struct TrustDecisionsTests {
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

  @Test func aBlockedPeerHasLostEverythingBeforeTheStoreAnswers() async throws {
    try await TestLoop.run { loop in
      let faulty = FaultyStorage(InMemoryStorage())
      let scene = try await DirectoryFixture(storage: faulty)
      let (ben, note) = (Identity().peerId, try DirectoryFixture.document(1))
      let secret = [UInt8](repeating: 5, count: Ticket.secretByteCount)
      _ = try await scene.tickets.issue(
        note, secret: secret, access: .write, uses: 1, expiresIn: nil, addresses: [])
      scene.tickets.presented(secret, for: note, by: ben)
      try await eventually("Ben has it", on: loop) { scene.network.reconsidered == [note] }
      scene.network.reconsidered = []
      faulty.holdSaves(of: KnownPeer.ticketsKey[0])
      let decision = Task { @AutomergeRepo in try await scene.trust.decide(.blocked, about: ben, name: nil) }
      try await eventually("the store is asked", on: loop) { faulty.heldSaveCount > 0 }
      #expect(scene.provider.disconnected == [ben] && scene.provider.wanted[ben] == nil)
      #expect(scene.grants.access(note, for: ben) == .none && scene.network.reconsidered == [note])
      faulty.holdSaves(of: nil)
      try await decision.value
    }
  }
}
