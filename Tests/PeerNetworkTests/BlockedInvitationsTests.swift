import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Strangers that begin invitations and leave them unopened keep no other peer from inviting.
struct BlockedInvitationsTests {
  private let ana = Identity().peerId
  private let number = [UInt8](repeating: 3, count: 32)

  private func offer(from peer: Identity, document: UInt8) throws -> InviteMessage.Offer {
    .init(
      document: try #require(DocumentId(bytes: [UInt8](repeating: document, count: 16))), title: "x", access: .write,
      name: "E",
      commitment: ShortAuthenticationString.commitment(
        to: number, inviter: peer.fingerprint, invited: Identity.fingerprint(of: ana) ?? []), knowsInvited: false)
  }

  /// Offers as many as it may, and opens them or not.
  private func flood(_ invitations: inout Invitations, by count: Int, opens: Bool) throws {
    for round in 0..<count {
      let eve = Identity()
      for document in 0..<3 {
        let id = [UInt8](repeating: UInt8(document), count: 14) + [UInt8(round >> 8), UInt8(round & 255)]
        let offer = try offer(from: eve, document: UInt8(document))
        for message in opens ? [InviteMessage.offer(offer), .opening(nonce: number)] : [.offer(offer)] {
          _ = invitations.receive(
            message, invitation: id, from: eve.peerId, isKnown: false, nonce: number, at: .zero)
        }
      }
    }
  }

  private func invites(
    _ invitations: inout Invitations, as peer: Identity = Identity(), isKnown: Bool, at now: Duration
  ) throws -> Bool {
    let id = [UInt8](repeating: 0xff, count: 16)
    let offer = try offer(from: peer, document: 9)
    return [InviteMessage.offer(offer), .opening(nonce: number)].flatMap { message in
      invitations.receive(message, invitation: id, from: peer.peerId, isKnown: isKnown, nonce: number, at: now)
    }.contains { if case .arrived = $0 { true } else { false } }
  }

  @Test(arguments: [6, 400], [true, false])
  func friendsAreHeardWhateverStrangersLeaveLying(strangers: Int, opens: Bool) throws {
    var invitations = Invitations(local: ana)
    try flood(&invitations, by: strangers, opens: opens)
    #expect(invitations.received(at: .zero).count <= Invitations.maximumOpen)
    #expect(try invites(&invitations, isKnown: true, at: .seconds(1)))
  }

  @Test func anHourLaterStrangersAreHeardAgain() throws {
    var invitations = Invitations(local: ana)
    try flood(&invitations, by: 6, opens: false)
    #expect(try invites(&invitations, isKnown: false, at: .seconds(3_700)))
  }
}
