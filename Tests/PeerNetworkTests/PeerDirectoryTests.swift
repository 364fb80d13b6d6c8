import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Sharing and joining between whole programs, over loopback.
struct PeerDirectoryTests {
  @Test func aTicketOpensADocumentAndEditsGoBothWays() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("soup"))
      let secret = try ana.repo.create(try .note("diary"))
      let ticket = try #require(try await ana.directory.share(note.id))
      let id = try await ben.directory.join(ticket: ticket.description)
      #expect(id == note.id)
      let copy = try await ben.find(id)
      #expect(try copy.document.content() == "soup")
      try copy.splice(0, "pea ")
      try note.splice(4, "!")
      try await eventually("both are equal", on: loop) {
        note.document.heads() == copy.document.heads() && note.inSync(with: ben.peerId) && copy.inSync(with: ana.peerId)
      }
      #expect(try note.document.content() == "pea soup!")
      guard case .unavailable = await ben.repo.find(secret.id) else {
        Issue.record("the diary was not shared")
        return
      }
      let peer = try #require(ben.directory.peers.first)
      #expect((peer.name, peer.isConnected, peer.peer) == ("Ana", true, ana.peerId))
      #expect(peer.notes.map(\.document) == [note.id] && peer.notes.first?.access == .write)
      #expect(ana.events.contains(.joined(ben.peerId, name: "Ben", note.id)))
      ben.directory.rename("Benjamin")
      try await eventually("the new name arrives", on: loop) { ana.directory.name(of: ben.peerId) == "Benjamin" }
      try await ana.stop()
      try await ben.stop()
    }
  }

  @Test func eitherSideMayStartAgainAndTheyMeet() async throws {
    try await TestLoop.run { loop in
      let (anasDisk, bensDisk) = (InMemoryStorage(), InMemoryStorage())
      var ana = try await Person.start("Ana", on: loop, storage: anasDisk)
      var ben = try await Person.start("Ben", on: loop, storage: bensDisk)
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      let id = try await ben.directory.join(ticket: ticket.description)
      _ = try await ben.find(id)
      try await ben.repo.flush()
      let port = ana.directory.listening
      try await ana.stop()
      try await ben.find(id).splice(0, "while Ana was away ")
      ana = try await Person.start("Ana", on: loop, storage: anasDisk)
      #expect(ana.directory.listening == port)
      // Ana has the note open nowhere: her service compares it all the same.
      try await eventually("Ana hears of it", on: loop) {
        (try? ana.repo.handle(of: id)?.document.content()) == "while Ana was away x"
      }
      try await ben.stop()
      try await ana.find(id).splice(0, "Ben is away: ")
      ben = try await Person.start("Ben", on: loop, storage: bensDisk)
      try await eventually("Ben hears of it", on: loop) {
        (try? ben.repo.handle(of: id)?.document.content()) == "Ben is away: while Ana was away x"
      }
      try await ana.stop()
      try await ben.stop()
    }
  }

  @Test func ticketsThatDoNotOpenSayWhy() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage(), listen: nil)
      let note = try ana.repo.create(try .note("x"))
      await #expect(throws: JoinError.ticket(.ticketInvalid)) {
        try await ben.directory.join(ticket: "notes-lsp:hello")
      }
      let expired = try #require(try await ana.directory.share(note.id, expiresIn: .seconds(-5)))
      await #expect(throws: JoinError.ticket(.ticketExpired)) { try await ben.directory.join(expired) }
      var ticket = try #require(try await ana.directory.share(note.id, access: .read))
      _ = try await ben.directory.join(ticket)
      #expect(ben.directory.ownAccess(to: note.id) == .read)
      await #expect(throws: JoinError.ticket(.ticketUsed)) { try await eve.directory.join(ticket) }
      let good = ticket.secret
      ticket.secret = [UInt8](repeating: 0, count: 16)
      for _ in 0..<5 { await #expect(throws: JoinError.ticketRevoked) { try await eve.directory.join(ticket) } }
      ticket.secret = good
      await #expect(throws: JoinError.ticket(.tooManyWrong)) { try await eve.directory.join(ticket) }
      try await ana.directory.unshare(note.id)
      #expect(ana.directory.problem(of: ticket) == .ticketRevoked && !ana.directory.hasTicket(for: note.id))
      for _ in 0..<6 { await #expect(throws: JoinError.ticketRevoked) { try await ben.directory.join(ticket) } }
      let fresh = try #require(try await ana.directory.share(note.id))
      #expect(ana.directory.problem(of: fresh) == nil && ana.directory.hasTicket(for: note.id))
      #expect(try await ben.directory.join(fresh) == note.id, "a revoked ticket is not a guess")
      #expect(try await ana.directory.join(ticket) == note.id)
      ticket.addresses = [PeerAddress(host: "127.0.0.1", port: 1)]
      let lost = try #require(
        Ticket(
          peer: Identity.peerId(of: [UInt8](repeating: 9, count: 32)), document: note.id, secret: good,
          access: .write, expires: nil, addresses: [PeerAddress(host: "127.0.0.1", port: 1)]))
      do {
        _ = try await eve.directory.join(lost)
        Issue.record("joined without a peer")
      } catch JoinError.unreachable {}
      for person in [ana, ben, eve] { try await person.stop() }
    }
  }

  @Test func unshareEndsIt() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      let copy = try await ben.find(try await ben.directory.join(ticket))
      try await ana.directory.unshare(note.id, from: ben.peerId)
      #expect(ana.directory.peers.first?.notes.isEmpty == true)
      try copy.splice(0, "unheard ")
      try note.splice(0, "unsaid ")
      // A round trip later both would have heard.
      let other = try ana.repo.create(try .note("y"))
      let second = try #require(try await ana.directory.share(other.id))
      _ = try await ben.find(try await ben.directory.join(second))
      #expect(try note.document.content() == "unsaid x")
      #expect(try copy.document.content() == "unheard x")
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func anAddressThatIsInUseOrNoneIsReported() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let taken = try #require(ana.directory.listening)
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      for text in [taken.description, "203.0.113.1:0", "nonsense"] {
        await #expect(throws: PeerNetworkError.self) { try await ben.directory.listen(at: text) }
        #expect(ben.directory.listenProblem != nil)
      }
      try await ben.directory.listen(at: "127.0.0.1:0")
      #expect(ben.directory.listenProblem == nil)
      #expect(try await ben.directory.connect(address: taken.description) == ana.peerId)
      for person in [ana, ben] { try await person.stop() }
    }
  }
}
