import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// No peer is taken for known, and nothing is granted, before both people have said yes to the digits.
struct IntroductionStepsTests {
  @AutomergeRepo
  private func meet(_ loop: Loop) async throws -> (Person, Person) {
    let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
    let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
    for (one, other) in [(ana, eve), (eve, ana)] {
      let address = try #require(other.directory.listening)
      one.directory.discovered(
        .appeared(.init(peer: other.peerId, name: other.repo.metadata.name ?? "", addresses: [address])))
    }
    return (ana, eve)
  }

  @AutomergeRepo
  private func invitation(to person: Person, on loop: Loop) async throws -> Invitations.Received {
    try await eventually("an invitation", on: loop) { !person.directory.receivedInvitations.isEmpty }
    return try #require(person.directory.receivedInvitations.first)
  }

  /// Row 4: Ana says yes, Eve takes her invitation back. The next one shows digits as the first did.
  @Test(arguments: [true, false])
  func aYesToAWithdrawnInvitationPinsNoPeer(isRefused: Bool) async throws {
    try await TestLoop.run { loop in
      let (ana, eve) = try await self.meet(loop)
      let note = try eve.repo.create(try .note("x"))
      _ = try await eve.directory.invite(ana.peerId, to: note.id, title: "X")
      let first = try await self.invitation(to: ana, on: loop)
      #expect(first.code?.count == 6)
      async let answer = try? ana.directory.answer(first.id, accepts: true)
      try await eventually("Eve has heard the yes", on: loop) {
        eve.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      #expect(ana.directory.registry.known[eve.peerId]?.isPinned != true)
      if isRefused {
        eve.directory.refuse(try #require(eve.directory.sentInvitations.first?.id))
      } else {
        try await eve.directory.unshare(note.id)
      }
      #expect(await answer ?? nil == nil)
      #expect(!ana.directory.registry.hasMet(eve.peerId) && !eve.directory.registry.hasMet(ana.peerId))
      let other = try eve.repo.create(try .note("y"))
      _ = try await eve.directory.invite(ana.peerId, to: other.id, title: "Y")
      #expect(try await self.invitation(to: ana, on: loop).code?.count == 6)
      for person in [ana, eve] { try await person.stop() }
    }
  }

  /// Row 5: a yes of the other alone opens nothing, whichever way the invitation was made.
  @Test func aYesOfTheOtherAloneGrantsNothing() async throws {
    try await TestLoop.run { loop in
      let (ana, eve) = try await self.meet(loop)
      let note = try ana.repo.create(try .note("x"))
      #expect(try await ana.directory.invite(eve.peerId, to: note.id, title: "X")?.count == 6)
      let invitation = try await self.invitation(to: eve, on: loop)
      async let answer = try? eve.directory.answer(invitation.id, accepts: true)
      try await eventually("Ana is asked", on: loop) {
        ana.events.contains { if case .toBeConfirmed = $0 { true } else { false } }
          || ana.grants.access(note.id, for: eve.peerId) > .none
      }
      #expect(ana.grants.access(note.id, for: eve.peerId) == .none)
      #expect(!ana.directory.registry.hasMet(eve.peerId) && !eve.directory.registry.hasMet(ana.peerId))
      guard case .unavailable = await eve.repo.find(note.id) else {
        Issue.record("sent before the digits were compared")
        return
      }
      // The control: she says that they are equal, and both know each other from then on.
      try await ana.directory.setTrust(.trusted, of: eve.peerId)
      #expect(await answer ?? nil == note.id)
      #expect(ana.grants.access(note.id, for: eve.peerId) == .write)
      #expect(ana.directory.registry.hasMet(eve.peerId) && eve.directory.registry.hasMet(ana.peerId))
      #expect(try await eve.find(note.id).document.content() == "x")
      // Friends need no digits, and no second yes.
      let second = try ana.repo.create(try .note("y"))
      #expect(try await ana.directory.invite(eve.peerId, to: second.id, title: "Y") == nil)
      let friends = try await self.invitation(to: eve, on: loop)
      #expect(try await eve.directory.answer(friends.id, accepts: true) == second.id)
      for person in [ana, eve] { try await person.stop() }
    }
  }
}
