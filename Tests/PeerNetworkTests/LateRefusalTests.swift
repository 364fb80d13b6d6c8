import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// This person takes back, while it is being stored, what a peer has just been granted.
struct LateRefusalTests {
  private static let secret = [UInt8](repeating: 3, count: Ticket.secretByteCount)

  @AutomergeRepo
  private func issue(
    _ access: Access, secret: [UInt8] = Self.secret, to document: DocumentId, by parts: DirectoryFixture
  ) async throws {
    _ = try await parts.tickets.issue(
      document, secret: secret, access: access, uses: 2, expiresIn: nil, addresses: [DirectoryFixture.address(1)])
  }

  @AutomergeRepo
  private func answers(to peer: PeerId, by parts: DirectoryFixture) -> [TicketMessage] {
    parts.network.sent.filter { $0.type == TicketMessage.type && $0.peer == peer }
      .compactMap { TicketMessage(fields: $0.fields) }
  }

  @Test func aTicketWhoseNoteIsUnsharedMeanwhileIsRefused() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let parts = try await DirectoryFixture(storage: disk)
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      try await self.issue(.write, to: id, by: parts)
      parts.tickets.presented(Self.secret, for: id, by: eve)
      parts.tickets.revoke(id)
      try await parts.grants.revoke(id, from: nil)
      try await eventually("answered", on: loop) { !self.answers(to: eve, by: parts).isEmpty }
      guard case .refused(id, kind: "ticketInvalid")? = self.answers(to: eve, by: parts).first else {
        Issue.record("\(parts.network.sent)")
        return
      }
      #expect(parts.grants.access(id, for: eve) == .none)
      #expect(try await Grants.load(from: disk).access(id, for: eve) == .none)
    }
  }

  /// The control: a ticket that stays valid gets what it grants.
  @Test func aTicketThatStaysValidIsAccepted() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let parts = try await DirectoryFixture(storage: disk)
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      try await self.issue(.write, to: id, by: parts)
      parts.tickets.presented(Self.secret, for: id, by: eve)
      try await eventually("answered", on: loop) { !self.answers(to: eve, by: parts).isEmpty }
      guard case .accepted(id, .write, isSpoken: false)? = self.answers(to: eve, by: parts).first else {
        Issue.record("\(parts.network.sent)")
        return
      }
      #expect(try await Grants.load(from: disk).access(id, for: eve) == .write)
    }
  }

  @Test func aPeerThatIsBlockedMeanwhileGetsNoAnswerToItsTicket() async throws {
    try await TestLoop.run { loop in
      let parts = try await DirectoryFixture()
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      try await self.issue(.write, to: id, by: parts)
      parts.tickets.presented(Self.secret, for: id, by: eve)
      try await parts.trust.decide(.blocked, about: eve, name: nil)
      try await eventually("nothing more happens", on: loop) { true }
      #expect(self.answers(to: eve, by: parts).isEmpty)
      #expect(parts.grants.access(id, for: eve) == .none && parts.registry.isBlocked(eve))
    }
  }

  /// A guest who may only read from now on has another ticket, which says otherwise.
  @Test func anotherTicketDoesNotGiveBackWhatThisPersonHasTaken() async throws {
    try await TestLoop.run { loop in
      let parts = try await DirectoryFixture()
      let (ben, carl, id) = (Identity().peerId, Identity().peerId, try DirectoryFixture.document(1))
      let second = [UInt8](repeating: 4, count: Ticket.secretByteCount)
      for secret in [Self.secret, second] { try await self.issue(.write, secret: secret, to: id, by: parts) }
      parts.tickets.presented(Self.secret, for: id, by: ben)
      try await eventually("answered", on: loop) { self.answers(to: ben, by: parts).count == 1 }
      let limits = parts.tickets.limit(id, for: ben, to: .read)
      #expect(try await parts.guests.change(.read, to: id, for: ben, with: limits))
      parts.tickets.presented(second, for: id, by: ben)
      try await eventually("answered again", on: loop) { self.answers(to: ben, by: parts).count == 2 }
      #expect(parts.grants.access(id, for: ben) == .read)
      guard case .accepted(id, .read, isSpoken: false)? = self.answers(to: ben, by: parts).last else {
        Issue.record("\(parts.network.sent)")
        return
      }
      // The ticket is as good as before for anybody else, and for the guest once it was let go.
      parts.tickets.presented(second, for: id, by: carl)
      try await eventually("the other is in", on: loop) { parts.grants.access(id, for: carl) == .write }
    }
  }

  /// Eve is invited, and says yes; the invitation is withdrawn in that moment.
  @Test func anInvitationThatIsWithdrawnMeanwhileGrantsNothing() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let parts = try await DirectoryFixture(storage: disk)
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      let invitation = [UInt8](repeating: 5, count: InviteMessage.idByteCount)
      let nonce = [UInt8](repeating: 6, count: InviteMessage.nonceByteCount)
      parts.provider.connected = [eve]
      let exchange = parts.invitations
      Task { @AutomergeRepo in
        _ = try? await exchange.invite(eve, to: id, title: "X", access: .write, id: invitation, nonce: nonce)
      }
      try await eventually("invited", on: loop) { !parts.network.sent.isEmpty }
      for message in [InviteMessage.nonce(nonce, knowsInviter: false), .answer(accepts: true)] {
        exchange.receive(InviteMessage.answerType, message.fields(of: invitation), from: eve, nonce: [])
      }
      #expect(exchange.sent.map(\.awaitsConfirmation) == [true])
      exchange.confirm(invitation, areEqual: true)
      exchange.withdraw(from: eve, document: id)
      try await parts.grants.revoke(id, from: eve)
      try await eventually("nothing more happens", on: loop) { true }
      #expect(parts.grants.access(id, for: eve) == .none)
      #expect(try await Grants.load(from: disk).access(id, for: eve) == .none)
      let last = parts.network.sent.last { $0.peer == eve }
      #expect(last?.fields["withdrawn"]?.bool == true)
    }
  }
}
