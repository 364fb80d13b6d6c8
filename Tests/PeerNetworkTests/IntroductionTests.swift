import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// Invitations between whole programs that hear of each other by discovery.
struct IntroductionTests {
  /// Lets all peers discover one another.
  @AutomergeRepo
  private func introduce(_ people: [Person]) throws {
    for one in people {
      for other in people where other !== one {
        let address = try #require(other.directory.listening)
        one.directory.discovered(
          .appeared(.init(peer: other.peerId, name: other.repo.metadata.name ?? "", addresses: [address])))
      }
    }
  }

  @AutomergeRepo
  private func invitation(to person: Person, on loop: Loop) async throws -> Invitations.Received {
    try await eventually("an invitation", on: loop) { !person.directory.receivedInvitations.isEmpty }
    return try #require(person.directory.receivedInvitations.first)
  }

  @Test func aPersonThatAcceptsGetsTheDocumentAndBothType() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      try self.introduce([ana, ben])
      #expect(ana.directory.peers.map(\.state) == [.nearby])
      let note = try ana.repo.create(try .note("soup"))
      let code = try await ana.directory.invite(ben.peerId, to: note.id, title: "Soup")
      let invitation = try await self.invitation(to: ben, on: loop)
      #expect(invitation.code == code && code?.count == 6)
      #expect(invitation.title == "Soup" && ben.directory.name(of: invitation.peer) == "Ana")
      #expect(ana.directory.peers.map(\.state) == [.invitationPending])
      #expect(ben.directory.peers.map(\.state) == [.invitationPending])
      // Before the answer nothing of the note is there.
      guard case .unavailable = await ben.repo.find(note.id) else {
        Issue.record("sent before the answer")
        return
      }
      async let answer = ben.directory.answer(invitation.id, accepts: true)
      try await eventually("Ana is asked", on: loop) {
        ana.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      ana.directory.confirm(invitation.id)
      #expect(try await answer == note.id)
      let copy = try await ben.find(note.id)
      try copy.splice(0, "pea ")
      try note.splice(4, "!")
      try await eventually("both are equal", on: loop) { note.document.heads() == copy.document.heads() }
      #expect(try note.document.content() == "pea soup!")
      #expect(ana.directory.peers.map(\.state) == [.connected])

      // They have met: no more digits.
      let other = try ben.repo.create(try .note("cake"))
      #expect(try await ben.directory.invite(ana.peerId, to: other.id, title: "Cake", access: .read) == nil)
      let second = try await self.invitation(to: ana, on: loop)
      #expect(second.code == nil)
      #expect(try await ana.directory.answer(second.id, accepts: true) == other.id)
      #expect(try await ana.find(other.id).document.content() == "cake")
      #expect(ana.directory.ownAccess(to: other.id) == .read)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func aPersonThatDeclinesGetsNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      try self.introduce([ana, ben])
      let note = try ana.repo.create(try .note("x"))
      _ = try await ana.directory.invite(ben.peerId, to: note.id, title: "X")
      let invitation = try await self.invitation(to: ben, on: loop)
      #expect(try await ben.directory.answer(invitation.id, accepts: false) == nil)
      try await eventually("Ana hears of it", on: loop) {
        ana.events.contains(.declined(ben.peerId, name: "Ben", note.id))
      }
      #expect(ana.directory.peers.map(\.state) == [.rejected])
      #expect(ana.grants.peers(on: note.id).isEmpty)
      await #expect(throws: InvitationError.unknown) { try await ben.directory.answer(invitation.id, accepts: true) }
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func aBlockedPeerGetsNoAnswerEverAgain() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      var ben = try await Person.start("Ben", on: loop, storage: disk)
      try self.introduce([ana, ben])
      let note = try ana.repo.create(try .note("x"))
      _ = try await ana.directory.invite(ben.peerId, to: note.id, title: "X")
      let invitation = try await self.invitation(to: ben, on: loop)
      #expect(try await ben.directory.answer(invitation.id, accepts: false, blocks: true) == nil)
      try await eventually("hung up", on: loop) { !ana.provider.isConnected(ben.peerId) }
      for round in 0..<2 {
        #expect(ben.directory.peers.map(\.state) == [.blocked])
        let asked = ben.events.count
        await #expect(throws: InvitationError.self) {
          try await ana.directory.invite(ben.peerId, to: note.id, title: "X")
        }
        #expect(ben.directory.receivedInvitations.isEmpty)
        // That the list of peers has changed is told late: Ana came before she was blocked.
        #expect(
          ben.events[asked...].allSatisfy { [.networkState, .peersChanged].contains($0) }, "\(ben.events[asked...])")
        if round == 0 {
          try await ben.stop()
          ben = try await Person.start("Ben", on: loop, storage: disk)
          try self.introduce([ana, ben])
        }
      }
      await #expect(throws: InvitationError.blocked) {
        try await ben.directory.invite(ana.peerId, to: note.id, title: "X")
      }
      try await ben.directory.setTrust(.forgotten, of: ana.peerId)
      #expect(try await ana.directory.invite(ben.peerId, to: note.id, title: "X")?.count == 6)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func digitsThatAreToBeComparedHoldTheDocumentBack() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let eve = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      try self.introduce([ana, eve])
      let note = try ana.repo.create(try .note("x"))
      _ = try await ana.directory.invite(eve.peerId, to: note.id, title: "X")
      let invitation = try await self.invitation(to: eve, on: loop)
      async let answer = eve.directory.answer(invitation.id, accepts: true)
      try await eventually("Ana is asked", on: loop) {
        ana.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      #expect(ana.grants.peers(on: note.id).isEmpty)
      try await ana.directory.setTrust(.trusted, of: eve.peerId)
      #expect(try await answer == note.id)
      #expect(ana.grants.peers(on: note.id) == [eve.peerId: .write])

      let second = try ana.repo.create(try .note("y"))
      try await ana.directory.setTrust(.forgotten, of: eve.peerId)
      #expect(ana.grants.peers(on: note.id).isEmpty)
      _ = try await ana.directory.invite(eve.peerId, to: second.id, title: "Y")
      let another = try await self.invitation(to: eve, on: loop)
      async let refused = eve.directory.answer(another.id, accepts: true)
      try await eventually("Ana is asked again", on: loop) {
        ana.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      ana.directory.refuse(try #require(ana.directory.sentInvitations.first?.id))
      do {
        _ = try await refused
        Issue.record("let in")
      } catch {}
      #expect(ana.grants.peers(on: second.id).isEmpty)
      for person in [ana, eve] { try await person.stop() }
    }
  }

  /// Eve stands between Ana and Ben, is called what each expects, and hands on what the invitation says.
  @Test func anAttackerInBetweenWithTheRightNamesShowsOtherDigitsAndGetsNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let falseBen = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let falseAna = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      try self.introduce([ana, falseBen])
      try self.introduce([ben, falseAna])
      let note = try ana.repo.create(try .note("for Ben only"))
      let anasCode = try await ana.directory.invite(falseBen.peerId, to: note.id, title: "Plans")
      let taken = try await self.invitation(to: falseBen, on: loop)
      #expect(taken.code == anasCode && taken.title == "Plans")
      // She needs a document of this name to offer; what is in it she does not know.
      let bait = try falseAna.repo.create(try .note("?"))
      _ = try await falseAna.directory.invite(ben.peerId, to: bait.id, title: taken.title)
      let bens = try await self.invitation(to: ben, on: loop)
      #expect(ben.directory.name(of: bens.peer) == "Ana" && bens.title == "Plans")
      #expect(anasCode?.count == 6 && bens.code?.count == 6 && bens.code != anasCode, "equal once in a million runs")

      // She says yes for Ben. Ana asks him, hears of other digits, and says no; Ben does the same on his side.
      async let answer = falseBen.directory.answer(taken.id, accepts: true)
      try await eventually("Ana is asked", on: loop) {
        ana.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
      guard case .unavailable = await falseBen.repo.find(note.id) else {
        Issue.record("sent before the digits were compared")
        return
      }
      ana.directory.refuse(try #require(ana.directory.sentInvitations.first?.id))
      do {
        _ = try await answer
        Issue.record("let in")
      } catch {}
      #expect(try await ben.directory.answer(bens.id, accepts: false) == nil)
      try await eventually("she hears of it", on: loop) {
        falseAna.events.contains(.declined(ben.peerId, name: "Ben", bait.id))
      }
      guard case .unavailable = await falseBen.repo.find(note.id) else {
        Issue.record("sent although the digits differ")
        return
      }
      #expect(ana.grants.allPeers.isEmpty && ben.grants.allPeers.isEmpty)
      #expect(ben.repo.handle(of: bait.id) == nil && falseBen.repo.handle(of: note.id) == nil)
      // She does not count as known: the next time there are digits again.
      #expect(try await ana.directory.invite(falseBen.peerId, to: note.id, title: "Plans")?.count == 6)
      for person in [ana, ben, falseBen, falseAna] { try await person.stop() }
    }
  }

  @Test func aPeerThatSharesSomethingIsCalledWhenItIsHeard() async throws {
    try await TestLoop.run { loop in
      let (anasDisk, bensDisk) = (InMemoryStorage(), InMemoryStorage())
      var ana = try await Person.start("Ana", on: loop, storage: anasDisk)
      var ben = try await Person.start("Ben", on: loop, storage: bensDisk)
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      _ = try await ben.find(try await ben.directory.join(ticket))
      try await ben.repo.flush()
      try await ana.stop()
      try await ben.stop()
      // Both come back at places where the other has never been.
      ana = try await Person.start("Ana", on: loop, storage: anasDisk, listen: "127.0.0.3:0")
      ben = try await Person.start("Ben", on: loop, storage: bensDisk, listen: "127.0.0.2:0")
      #expect(!ana.provider.isConnected(ben.peerId))
      try self.introduce([ana, ben])
      try await eventually("connected", on: loop) {
        ana.provider.isConnected(ben.peerId) && ben.provider.isConnected(ana.peerId)
      }
      ana.directory.discovered(.vanished(ben.peerId, name: "Ben"))
      #expect(ana.directory.peers.map(\.state) == [.connected])
      for person in [ana, ben] { try await person.stop() }
    }
  }
}
