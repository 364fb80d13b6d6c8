import AutomergeRepo
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A yes to an invitation that comes again, because the answer may have been lost; without a socket.
struct RepeatedYesTests {
  @Test func aYesThatComesAgainIsAnsweredWithTheAccessThatThePeerHasByNow() async throws {
    try await TestLoop.run { loop in
      let scene = try await DirectoryFixture()
      let (ben, note) = (Identity().peerId, try DirectoryFixture.document(1))
      let (id, number) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 32))
      try await scene.trust.decide(.trusted, about: ben, name: "Ben")
      scene.provider.connected = [ben]
      scene.network.peers[ben] = PeerMetadata(name: "Ben")
      @AutomergeRepo func hear(_ message: InviteMessage) {
        scene.invitations.receive(message.type, message.fields(of: id), from: ben, nonce: [])
      }
      @AutomergeRepo func granted() -> [String?] { scene.network.sent.compactMap { $0.fields["granted"].map(\.text) } }

      let invitation = Task { @AutomergeRepo in
        try await scene.invitations.invite(ben, to: note, title: "X", access: .write, id: id, nonce: number)
      }
      try await eventually("the offer", on: loop) { !scene.network.sent.isEmpty }
      hear(.nonce(number, knowsInviter: true))
      #expect(try await invitation.value == nil)
      hear(.answer(accepts: true))
      try await eventually("granted", on: loop) { granted() == ["write"] }
      #expect(try await scene.guests.change(.read, to: note, for: ben, with: []))
      hear(.answer(accepts: true))
      #expect(granted() == ["write", "read"])
    }
  }
}
