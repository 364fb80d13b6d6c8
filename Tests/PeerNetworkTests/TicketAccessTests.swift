import AutomergeRepo
import Foundation
import PeerTransport
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// What a ticket gives to a peer that is a guest already.
struct TicketAccessTests {
  private let secrets = (0..<3).map { [UInt8](repeating: UInt8($0), count: 16) }

  private func document() throws -> DocumentId { try #require(DocumentId(bytes: Array(1...16))) }

  private func redeem(_ book: inout TicketBook, _ secret: Int, by peer: String) throws -> TicketBook.Outcome {
    book.redeem(
      document: try document(), secret: secrets[secret], by: PeerId(peer), date: Date(timeIntervalSince1970: 0),
      now: .zero)
  }

  private func again(
    _ book: TicketBook, decided: [DocumentId: [PeerId: Access]] = [:], asEarlier: Bool = false
  ) throws -> TicketBook {
    guard asEarlier else { return TicketBook(record: try CBOR(book.record.encoded(), limits: .stored)) }
    let entries = (book.record.array ?? []).map { entry in
      CBOR.map((entry.entries ?? []).filter { $0.key.text != "limits" })
    }
    return TicketBook(record: .array(entries), decided: decided)
  }

  @Test func aTicketGivesNoMoreThanWasDecidedAfterItWasMade() throws {
    var book = TicketBook()
    book.issue(document: try document(), secret: secrets[0], access: .write, uses: 9, expires: nil)
    book.limit(try document(), for: PeerId("a"), to: .read)
    book.issue(document: try document(), secret: secrets[1], access: .write, uses: 9, expires: nil)
    book = try again(book)
    #expect(try redeem(&book, 0, by: "a") == .accepted(.read))
    #expect(try redeem(&book, 0, by: "a") == .repeated(.read, isRecent: true))
    #expect(try redeem(&book, 0, by: "b") == .accepted(.write))
    #expect(try redeem(&book, 1, by: "a") == .accepted(.write))
    // The last decision counts, and makes no ticket give more than it says.
    book.issue(document: try document(), secret: secrets[2], access: .read, uses: 9, expires: nil)
    book.limit(try document(), for: PeerId("a"), to: .write)
    book = try again(book)
    #expect(try redeem(&book, 0, by: "a") == .repeated(.write, isRecent: true))
    #expect(try redeem(&book, 2, by: "a") == .accepted(.read))
  }

  @Test func whatWasDecidedBeforeAnUpdateHoldsForTheTicketsOfThatTime() throws {
    var book = TicketBook()
    book.issue(document: try document(), secret: secrets[0], access: .write, uses: 9, expires: nil)
    book = try again(book, decided: [try document(): [PeerId("a"): .read]], asEarlier: true)
    #expect(try redeem(&book, 0, by: "a") == .accepted(.read))
    #expect(try redeem(&book, 0, by: "b") == .accepted(.write))
  }

  @Test(arguments: [false, true])
  func aNewTicketToWriteUndoesTheHostsDecisionAndAnOldOneDoesNot(restarts: Bool) async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      var ana = try await Person.start("Ana", on: loop, storage: disk)
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let eva = try await Person.start("Eva", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x")).id
      let first = try #require(try await ana.directory.share(note, uses: 2))
      for guest in [ben, eva] {
        #expect(try await guest.directory.join(first) == note)
        _ = try await guest.find(note)
      }
      let old = try #require(try await ana.directory.share(note))
      #expect(try await ana.directory.setAccess(.read, to: note, for: ben.peerId))
      try await eventually("both hear of it", on: loop) {
        ben.grants.ownAccess(to: note) == .read && eva.grants.access(note, for: ben.peerId) == .read
      }
      if restarts {
        let peer = ana.peerId
        try await ana.stop()
        try await eventually("she is gone", on: loop) { !ben.provider.isConnected(peer) }
        ana = try await Person.start("Ana", on: loop, storage: disk)
      }
      let address = try #require(ana.directory.listening)
      #expect(try await ben.directory.join(old.calling(address)) == note)
      #expect(ana.grants.access(note, for: ben.peerId) == .read && ben.grants.ownAccess(to: note) == .read)

      let new = try #require(try await ana.directory.share(note))
      ben.events = []
      #expect(try await ben.directory.join(new) == note)
      #expect(ana.grants.access(note, for: ben.peerId) == .write && ben.grants.ownAccess(to: note) == .write)
      try await eventually("all hear of it", on: loop) {
        eva.grants.access(note, for: ben.peerId) == .write && ben.events.hasAccess(.write)
      }
      #expect(try await Grants.load(from: disk).access(note, for: ben.peerId) == .write)
      for person in [ana, ben, eva] { try await person.stop() }
    }
  }

  @Test func aGuestThatMayReadAndGetsATicketToWriteMayWriteAndIsTold() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      for access in [Access.read, .write, .read] {
        let ticket = try #require(try await ana.directory.share(note.id, access: access))
        #expect(try await ben.directory.join(ticket) == note.id)
        let copy = try await ben.find(note.id)
        if access == .write { try copy.splice(0, "by Ben: ") }
      }
      try await eventually("it is told and taken", on: loop) {
        ben.events.hasAccess(.write) && (try? note.document.content()) == "by Ben: x"
      }
      // A ticket takes nothing away.
      #expect(ana.grants.access(note.id, for: ben.peerId) == .write && ben.grants.ownAccess(to: note.id) == .write)
      for person in [ana, ben] { try await person.stop() }
    }
  }
}

extension [SharingEvent] {
  fileprivate func hasAccess(_ access: Access) -> Bool {
    contains { if case .accessChanged(_, _, _, access) = $0 { true } else { false } }
  }
}

extension Ticket {
  /// The same ticket for a host that listens somewhere else now.
  fileprivate func calling(_ address: PeerAddress) throws -> Ticket {
    try #require(
      Ticket(
        peer: peer, document: document, secret: secret, access: access, expires: expires, addresses: [address]))
  }
}
