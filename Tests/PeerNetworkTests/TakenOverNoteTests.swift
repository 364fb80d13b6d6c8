import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// Eve knows the id of a note that is here, and offers it as hers. Whatever the person answers, it stays as it is.
struct TakenOverNoteTests {
  /// Ana has a note of her own; Eve was a guest who could only read it, and is dismissed.
  @AutomergeRepo
  private struct Scene {
    let (ana, eve): (Person, Person)
    let note: DocHandle
    let evesCopy: DocHandle

    init(on loop: Loop, keepsEve: Bool = false) async throws {
      ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      note = try ana.repo.create(try .note("Ana's own"))
      let ticket = try #require(try await ana.directory.share(note.id, access: .read))
      evesCopy = try await eve.find(try await eve.directory.join(ticket))
      if !keepsEve { try await ana.directory.unshare(note.id, from: eve.peerId) }
    }

    /// Nothing of what was agreed about the note has changed, and what Eve writes does not get in.
    func expectUntouched(_ access: Access, on loop: Loop) async throws {
      #expect(ana.grants.joined[note.id] == nil)
      #expect(ana.directory.ownAccess(to: note.id) == .write)
      #expect(ana.grants.access(note.id, for: eve.peerId) == access)
      try evesCopy.splice(0, "Eve was here. ")
      try note.splice(0, "Still ")
      let other = try ana.repo.create(try .note("another"))
      let ticket = try #require(try await ana.directory.share(other.id))
      _ = try await eve.find(try await eve.directory.join(ticket))
      #expect(try note.document.content() == "Still Ana's own")
    }

    func stop() async throws {
      for person in [ana, eve] { try await person.stop() }
    }
  }

  /// Says yes to whatever is asked, until the person has heard of Eve.
  @AutomergeRepo
  private func acceptAll(_ person: Person, from eve: Person, on loop: Loop) async throws {
    try await eventually("something is said", on: loop) {
      !person.directory.receivedInvitations.isEmpty || person.events.contains { "\($0)".hasPrefix("offeredAgain") }
    }
    for invitation in person.directory.receivedInvitations {
      async let opened = try? person.directory.answer(invitation.id, accepts: true)
      try? await eve.directory.setTrust(.trusted, of: person.peerId)
      _ = await opened
    }
  }

  @Test(arguments: [true, false])
  func aGuestCannotBecomeTheHostByInviting(isStillGuest: Bool) async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop, keepsEve: isStillGuest)
      let (ana, eve) = (scene.ana, scene.eve)
      let address = try #require(ana.directory.listening)
      eve.directory.discovered(.appeared(.init(peer: ana.peerId, name: "Ana", addresses: [address])))
      _ = try await eve.directory.invite(ana.peerId, to: scene.note.id, title: "Party list")
      try await self.acceptAll(ana, from: eve, on: loop)
      try await scene.expectUntouched(isStillGuest ? .read : .none, on: loop)
      #expect(ana.directory.receivedInvitations.isEmpty)
      try await scene.stop()
    }
  }

  @Test func norByTicket() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let ticket = try #require(try await scene.eve.directory.share(scene.note.id))
      _ = try? await scene.ana.directory.join(ticket)
      try await scene.expectUntouched(.none, on: loop)
      try await scene.stop()
    }
  }

  /// The words do not say which document they open: the host does, and this one lies.
  @Test func norByWordsThatAreReadAloud() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, eve, id) = (scene.ana, scene.eve, scene.note.id)
      let bait = try eve.repo.create(try .note("bait"))
      let ticket = try #require(try await eve.directory.share(bait.id))
      eve.repo.onMessage(ofType: TicketMessage.type) { [eve] _, peer in
        eve.repo.send(
          type: TicketMessage.type, fields: TicketMessage.accepted(id, .write, isSpoken: true).fields, to: peer)
      }
      _ = try? await ana.directory.join(ticket: ticket.words)
      #expect(ana.grants.joined[id] == nil)
      #expect(ana.directory.ownAccess(to: id) == .write)
      #expect(ana.grants.access(id, for: eve.peerId) == .none)
      try await scene.stop()
    }
  }

  /// Not in memory, only in the store: it is here all the same.
  @Test func aNoteThatNoEditorHasOpenIsHereToo() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      var ana = try await Person.start("Ana", on: loop, storage: disk)
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let id = try ana.repo.create(try .note("Ana's own")).id
      try await ana.repo.flush()
      try await ana.stop()
      ana = try await Person.start("Ana", on: loop, storage: disk)
      #expect(ana.repo.handle(of: id) == nil)
      _ = try await eve.repo.create(doc: try .note("forged"), id: id)
      let ticket = try #require(try await eve.directory.share(id))
      _ = try? await ana.directory.join(ticket)
      _ = try? await ana.directory.join(ticket: ticket.words)
      #expect(ana.grants.joined[id] == nil && ana.grants.access(id, for: eve.peerId) == .none)
      #expect(try await ana.find(id).document.content() == "Ana's own")
      for person in [ana, eve] { try await person.stop() }
    }
  }

  @Test func theHostOfANoteStaysTheHostWhenOthersOfferIt() async throws {
    try await TestLoop.run { loop in
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let note = try host.repo.create(try .note("x"))
      for (guest, access) in [(ben, Access.read), (eve, .write)] {
        let ticket = try #require(try await host.directory.share(note.id, access: access))
        _ = try await guest.find(try await guest.directory.join(ticket))
      }
      let ticket = try #require(try await eve.directory.share(note.id))
      _ = try? await ben.directory.join(ticket)
      #expect(ben.grants.joined[note.id]?.host == host.peerId)
      #expect(ben.directory.ownAccess(to: note.id) == .read)
      for person in [host, ben, eve] { try await person.stop() }
    }
  }

  /// The control: the host itself may let a guest in again, and say so with another access.
  @Test func theHostMayAskItsGuestInAgain() async throws {
    try await TestLoop.run { loop in
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try host.repo.create(try .note("x"))
      let ticket = try #require(try await host.directory.share(note.id, access: .read))
      let copy = try await ben.find(try await ben.directory.join(ticket))
      try await host.directory.unshare(note.id)
      let again = try #require(try await host.directory.share(note.id, access: .write))
      #expect(try await ben.directory.join(again) == note.id)
      #expect(ben.directory.ownAccess(to: note.id) == .write)
      try copy.splice(0, "Ben may write ")
      try await eventually("it arrives", on: loop) { note.document.heads() == copy.document.heads() }
      let words = try #require(try await host.directory.share(note.id)).words
      #expect(try await ben.directory.join(ticket: words) == note.id)
      for person in [host, ben] { try await person.stop() }
    }
  }
}
