import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Whom we trust, and under which names and addresses peers are known; without a socket.
struct PeerRegistryTests {
  @Test func onlyAGrantOrAPinMeansThatTwoHaveMet() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (registry, grants, peer) = (scene.registry, scene.grants, Identity().peerId)
      let note = try DirectoryFixture.document(1)
      #expect(!registry.isTrusted(peer) && !registry.hasMet(peer))
      _ = grants.introduce([peer: .write], to: note)
      #expect(registry.isTrusted(peer) && !registry.hasMet(peer), "a host has vouched, no digits were compared")
      grants.admit(.read, on: note, to: peer)
      #expect(registry.hasMet(peer))
      _ = registry.decide(.blocked, about: peer, name: nil)
      #expect(!registry.isTrusted(peer) && !registry.hasMet(peer), "a block outweighs grants")
    }
  }

  @Test func aDecisionOutlivesARestartAndForgettingLeavesNothing() async throws {
    try await TestLoop.run { _ in
      let disk = InMemoryStorage()
      let (ben, eve) = (Identity().peerId, Identity().peerId)
      var registry = try await DirectoryFixture(storage: disk).registry
      for (peer, trust, name) in [(ben, PeerTrust.trusted, "Ben"), (eve, .blocked, "Eve")] {
        try await registry.save(registry.decide(trust, about: peer, name: name), of: peer)
      }
      registry = try await DirectoryFixture(storage: disk).registry
      #expect(registry.hasMet(ben) && registry.name(of: ben) == "Ben" && registry.isBlocked(eve))
      #expect(Set(registry.decided) == [ben, eve])
      for peer in [ben, eve] { try await registry.save(registry.decide(.forgotten, about: peer, name: nil), of: peer) }
      #expect(registry.known.isEmpty)
      #expect(try await disk.records(under: KnownPeer.prefix).isEmpty)
    }
  }

  @Test func aNameBelongsToThePeerThatWasMetUnderIt() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (registry, ben, eve) = (scene.registry, Identity().peerId, Identity().peerId)
      _ = registry.decide(.trusted, about: ben, name: "Ben")
      scene.network.peers[eve] = PeerMetadata(name: "bén")
      #expect(registry.namesake(of: eve) == ben)
      #expect(registry.name(of: eve) == ForeignWords.marked("bén", eve))
      #expect(registry.isNameShared(by: ben, inviters: []))
      // The mark stays when the two meet.
      _ = registry.decide(.trusted, about: eve, name: "Ben")
      #expect(registry.name(of: eve) == ForeignWords.marked("Ben", eve) && registry.namesake(of: eve) == nil)
      // What a peer calls itself afterwards does not rename the one that was met.
      registry.claims("Bishop", by: ben)
      #expect(registry.name(of: ben) == "Ben")
    }
  }

  /// No peer has been met: neither of two may pass for the other, and none for this person.
  @Test func strangersOfOneNameAreToldApart() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (registry, peers) = (scene.registry, (0..<4).map { _ in Identity().peerId })
      scene.network.peers[peers[0]] = PeerMetadata(name: "Cyd")
      #expect(registry.name(of: peers[0]) == "Cyd", "the control")
      scene.network.peers[peers[1]] = PeerMetadata(name: "СYD")
      scene.network.peers[peers[2]] = PeerMetadata(name: "Аnа")
      for (peer, name) in [(peers[0], "Cyd"), (peers[1], "СYD"), (peers[2], "Аnа")] {
        #expect(registry.name(of: peer) == ForeignWords.marked(name, peer))
        #expect(registry.name(of: peer, claiming: "Cyd") == ForeignWords.marked(name, peer), "beside its caret, too")
      }
      // Also a peer that another one brings, with nothing but the name beside its caret.
      #expect(registry.name(of: peers[3], claiming: "Ana") == ForeignWords.marked("Ana", peers[3]))
      #expect(registry.name(of: peers[3], claiming: "Dan") == "Dan")
      // The one that our person then meets has the name.
      _ = registry.decide(.trusted, about: peers[0], name: "Cyd")
      #expect(
        registry.name(of: peers[0]) == "Cyd" && registry.name(of: peers[1]) == ForeignWords.marked("СYD", peers[1]))
      scene.network.peers[peers[1]] = nil
      #expect(registry.name(of: peers[2]) == ForeignWords.marked("Аnа", peers[2]))
      // Two processes of one person are no strangers to each other.
      scene.network.peers = [PeerId("\(peers[3])/1"): PeerMetadata(name: "Dan"), peers[3]: PeerMetadata(name: "Dan")]
      #expect(registry.name(of: peers[3]) == "Dan")
    }
  }

  @Test func halfOfTheAddressesAreThoseWhereAPeerWasMet() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (registry, peer) = (scene.registry, Identity().peerId)
      let announced = (1...8).map { DirectoryFixture.address(UInt8($0)) }
      let met = (11...18).map { DirectoryFixture.address(UInt8($0)) }
      _ = registry.remember(peer, name: "Ben", addresses: met)
      #expect(registry.heard(.init(peer: peer, name: "Ben", addresses: announced)))
      #expect(!registry.heard(.init(peer: peer, name: "Ben", addresses: announced)))
      #expect(registry.addresses(of: peer) == Array(announced[..<4]) + Array(met[..<4]))
      #expect(registry.lost(peer) && !registry.lost(peer))
      #expect(registry.addresses(of: peer) == met)
    }
  }

  @Test func ofManyNamesOfAPeerOneWaitsForTheStoreAndTheLastIsStored() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let storage = FaultyStorage(disk)
      let registry = try await DirectoryFixture(storage: storage).registry
      let peer = Identity().peerId
      storage.holdSaves(of: "peers")
      for number in 1...100 { _ = registry.remember(peer, name: "Ben \(number)", addresses: []) }
      try await eventually("a write", on: loop) { storage.heldSaveCount > 0 }
      registry.pin(peer)
      for number in 101...200 { _ = registry.remember(peer, name: "Ben \(number)", addresses: []) }
      storage.holdSaves(of: nil)
      try await eventually("all is stored", on: loop) { registry.saving.isEmpty }
      #expect(storage.saveCount == 2)
      let stored = try await DirectoryFixture(storage: disk).registry.known[peer]
      #expect(stored == registry.known[peer] && stored?.name == "Ben 200" && stored?.isPinned == true)
      // Nothing new, so there is nothing to store.
      _ = registry.remember(peer, name: "Ben 200", addresses: [])
      #expect(registry.saving.isEmpty)
      // What could not be stored is stored when the peer is heard of again.
      storage.failSaves(1)
      for name in ["Ben 200", "Ben"] {
        _ = registry.remember(peer, name: "Ben", addresses: [])
        try await eventually("the write ends", on: loop) { registry.saving.isEmpty }
        #expect(try await DirectoryFixture(storage: disk).registry.known[peer]?.name == name)
      }
    }
  }

  @Test func guestsThatNoHostListsAreForgottenUnlessOurPersonHasDecided() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let registry = scene.registry
      let peers = (0..<3).map { _ in Identity().peerId }
      for peer in peers { _ = registry.remember(peer, name: nil, addresses: []) }
      registry.pin(peers[0])
      _ = registry.decide(.blocked, about: peers[1], name: nil)
      registry.forgetUnlisted(Set(peers))
      #expect(Set(registry.known.keys) == [peers[0], peers[1]])
    }
  }
}
