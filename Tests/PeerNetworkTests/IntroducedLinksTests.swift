import AutomergeRepo
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A host that lists keys of its own as guests takes only some of the links.
@Suite(.serialized) struct IntroducedLinksTests {}

extension IntroducedLinksTests {
  private func links(_ count: Int, of host: PeerId, from time: Int = 0) -> [IntroducedLinks.Link] {
    (0..<count).map { .init(peer: PeerId("\(host) \($0)"), host: host, openedAt: .seconds(time + $0)) }
  }

  @Test func theGuestsOfAHostThatHasMostPlacesMakeRoomForThoseOfAnother() {
    let (one, other) = (PeerId("one"), PeerId("other"))
    func place(for host: PeerId, _ links: [IntroducedLinks.Link]) -> IntroducedLinks.Place {
      IntroducedLinks.place(for: host, among: links, maximumCount: 8)
    }
    #expect(place(for: one, links(7, of: one)) == .free)
    #expect(place(for: one, links(8, of: one)) == .none)
    #expect(place(for: other, links(8, of: one)) == .takenFrom(PeerId("one 7")))
    #expect(place(for: other, links(5, of: one) + links(3, of: other)) == .takenFrom(PeerId("one 4")))
    // The one that had to leave does not come back in its place.
    #expect(place(for: one, links(4, of: one) + links(4, of: other)) == .none)
    #expect(place(for: other, links(4, of: one) + links(4, of: other)) == .none)
  }

  /// A service, and who has introduced its callers.
  @AutomergeRepo
  private final class Scene {
    let loop: Loop
    let ana: Station
    private var hosts: [PeerId: PeerId] = [:]
    private var callers: [RawPeer] = []

    init(_ loop: Loop) throws {
      (self.loop, ana) = (loop, try Station(loop))
      ana.provider.policy.isKnown = { _ in true }
      ana.provider.policy.introducer = { [weak self] peer in self?.hosts[peer] }
    }

    /// - Parameter host: nil for a peer that Ana has met
    func call(introducedBy host: PeerId?) async throws -> RawPeer {
      let identity = Identity()
      hosts[identity.peerId] = host
      let raw = try await RawPeer.connect(to: ana.address, on: loop, as: identity)
      try raw.join()
      try await eventually("let in, or sent away", on: loop) {
        raw.isClosed || self.ana.provider.isConnected(identity.peerId)
      }
      callers.append(raw)
      return raw
    }

    func stop() {
      for raw in callers { raw.stream.close() }
      ana.provider.stop()
    }
  }

  @Test func aHostsInventedGuestsLeavePlacesForFriendsAndForTheGuestsOfOthers() async throws {
    try await TestLoop.run { loop in
      let scene = try Scene(loop)
      let (eve, ben) = (Identity().peerId, Identity().peerId)
      var invented: [RawPeer] = []
      for _ in 0..<IntroducedLinks.maximumCount { invented.append(try await scene.call(introducedBy: eve)) }
      #expect(invented.allSatisfy { !$0.isClosed })
      let oneMore = try await scene.call(introducedBy: eve)
      #expect(oneMore.isClosed && !scene.ana.provider.isConnected(oneMore.peerId))
      let friend = try await scene.call(introducedBy: nil)
      #expect(!friend.isClosed && invented.allSatisfy { !$0.isClosed })
      let bens = try await scene.call(introducedBy: ben)
      #expect(!bens.isClosed)
      try await eventually("room was made", on: loop) { invented.contains(where: \.isClosed) }
      #expect(invented.count(where: \.isClosed) == 1 && !bens.isClosed)
      scene.stop()
    }
  }

  @Test func aPeerThatAHostHasListedCountsAsIntroducedUntilOurPersonDealsWithIt() async throws {
    try await TestLoop.run { _ in
      let scene = try await DirectoryFixture()
      let (host, guest, note) = (Identity().peerId, Identity().peerId, try DirectoryFixture.document(1))
      scene.grants.join(note, Joined(access: .write, host: host))
      scene.grants.admit(.write, on: note, to: host)
      #expect(scene.registry.introducer(of: guest) == nil)
      _ = scene.grants.introduce([guest: .write], to: note)
      #expect(scene.registry.introducer(of: guest) == host && scene.registry.introducer(of: host) == nil)
      scene.links.pin(guest)
      #expect(scene.registry.introducer(of: guest) == nil)
    }
  }
}
