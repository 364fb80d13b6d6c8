import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Which peers are called, and when; without a socket.
struct LinkKeeperTests {
  @Test func aPeerThatHasLostTheLastDocumentIsNoLongerCalled() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (ben, eve) = (Identity().peerId, Identity().peerId)
      let (note, other) = (try DirectoryFixture.document(1), try DirectoryFixture.document(2))
      for peer in [ben, eve] { scene.grants.admit(.write, on: note, to: peer) }
      scene.grants.admit(.read, on: other, to: ben)
      scene.links.start()
      #expect(Set(scene.provider.wanted.keys) == [ben, eve])
      try await scene.grants.revoke(note, from: nil)
      scene.links.release([ben, eve])
      #expect(Set(scene.provider.wanted.keys) == [ben] && scene.provider.disconnected.isEmpty)
      scene.links.hangUp([ben, eve])
      #expect(scene.provider.disconnected == [eve])
    }
  }

  @Test func aPeerNearbyIsCalledAfterAPauseIfSomethingIsSharedThen() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (ben, eve, stranger) = (Identity().peerId, Identity().peerId, Identity().peerId)
      let note = try DirectoryFixture.document(1)
      for peer in [ben, eve] { scene.grants.admit(.write, on: note, to: peer) }
      for (number, peer) in [ben, eve, stranger].enumerated() {
        _ = scene.registry.heard(
          .init(peer: peer, name: "Peer", addresses: [DirectoryFixture.address(UInt8(number + 1))]))
        scene.links.heard(peer, callingAfter: .milliseconds(50))
      }
      #expect(scene.provider.calledNow.isEmpty)
      _ = scene.registry.decide(.blocked, about: eve, name: nil)
      scene.network.manualClock.advance(by: .milliseconds(60))
      #expect(scene.provider.calledNow == [ben])
      #expect(scene.provider.wanted == [ben: [DirectoryFixture.address(1)]])
    }
  }

  @Test func aConnectedPeerHeardElsewhereIsProbedUnlessItIsAStranger() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (ben, stranger) = (Identity().peerId, Identity().peerId)
      scene.grants.admit(.write, on: try DirectoryFixture.document(1), to: ben)
      scene.provider.connected = [ben, stranger]
      for peer in [ben, stranger] {
        scene.links.movedPerhaps(.init(peer: peer, name: "Peer", addresses: [DirectoryFixture.address(9)]))
      }
      #expect(scene.provider.probed == [ben])
    }
  }
}
