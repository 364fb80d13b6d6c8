import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// A peer that the person forgets or blocks cannot return by a ticket that it used before.
struct ForgottenTicketTests {
  @Test(arguments: [PeerTrust.forgotten, .blocked], [true, false])
  func aTicketThatWasRedeemedAdmitsNoPeerAgain(trust: PeerTrust, restarts: Bool) async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      var ana = try await Person.start("Ana", on: loop, storage: disk)
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id, uses: 3))
      #expect(try await eve.directory.join(ticket) == note.id)
      try await eventually("both have it", on: loop) { ana.grants.access(note.id, for: eve.peerId) == .write }
      try await ana.directory.setTrust(trust, of: eve.peerId)
      if restarts {
        try await ana.repo.flush()
        try await ana.stop()
        let old = ana.peerId
        try await eventually("she is gone", on: loop) { !eve.provider.isConnected(old) }
        ana = try await Person.start("Ana", on: loop, storage: disk)
      }
      // With the key she had, and with a new one: she still has the text of the ticket, and uses remain.
      let eveAgain = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let address = try #require(ana.directory.listening)
      let known = try #require(
        Ticket(
          peer: ticket.peer, document: ticket.document, secret: ticket.secret, access: ticket.access,
          expires: ticket.expires, addresses: [address]))
      // A blocked peer gets no answer at all, which takes its time.
      for person in trust == .blocked ? [eveAgain] : [eve, eveAgain] { _ = try? await person.directory.join(known) }
      #expect(ana.grants.access(note.id, for: eve.peerId) == .none)
      #expect(ana.grants.access(note.id, for: eveAgain.peerId) == .none)

      // The control: another ticket lets another person in.
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let other = try #require(try await ana.directory.share(note.id))
      #expect(try await ben.directory.join(other) == note.id)
      for person in [ana, eve, eveAgain, ben] { try await person.stop() }
    }
  }

  @Test func theGraceForARepeatedTicketIsAMinuteAlsoAfterARestart() throws {
    var book = TicketBook()
    let document = try #require(DocumentId(bytes: Array(1...16)))
    let secret = [UInt8](repeating: 1, count: 16)
    book.issue(document: document, secret: secret, access: .write, uses: 2, expires: nil)
    func redeem(_ second: TimeInterval) -> TicketBook.Outcome {
      book.redeem(
        document: document, secret: secret, by: PeerId("a"), date: Date(timeIntervalSince1970: 1_000 + second),
        now: .zero)
    }
    #expect(redeem(0) == .accepted(.write))
    for _ in 0..<2 {
      #expect(redeem(59) == .repeated(.write, isRecent: true))
      // Nor does it come back with the clock.
      for late in [60, -1, 9_999] as [TimeInterval] { #expect(redeem(late) == .repeated(.write, isRecent: false)) }
      book = TicketBook(record: try CBOR(book.record.encoded(), limits: .stored))
    }
    let wasVoided = book.void(redeemedBy: PeerId("a"))
    #expect(wasVoided && redeem(1) == .refused(.ticketInvalid))
  }

  /// The answer to a ticket may be lost: for a minute, a peer that was let in may ask again. A guest may always.
  @Test func aGuestThatHasTheNoteIsAnsweredAgain() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      for _ in 0..<2 { #expect(try await ben.directory.join(ticket) == note.id) }
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      await #expect(throws: JoinError.ticket(.ticketUsed)) { try await eve.directory.join(ticket) }
      for person in [ana, ben, eve] { try await person.stop() }
    }
  }
}
