import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct TicketTests {
  private func ticket(addresses: [String] = ["127.0.0.1:7000", "[::1]:7001"], expires: Date? = nil) throws -> Ticket {
    let document = try #require(DocumentId(bytes: Array(1...16)))
    return try #require(
      Ticket(
        peer: Identity.peerId(of: Array(0..<32)), document: document,
        secret: Array(100..<116), access: .write, expires: expires, addresses: addresses.compactMap { PeerAddress($0) })
    )
  }

  @Test func aTicketSurvivesItsText() throws {
    for expires in [nil, Date(timeIntervalSince1970: 1_800_000_000)] {
      let ticket = try ticket(expires: expires)
      #expect(ticket.description.hasPrefix("notes-lsp:"))
      #expect(try Ticket(parsing: ticket.description) == ticket)
      #expect(try Ticket(parsing: ticket.letterGroups) == ticket)
      #expect(try Ticket(parsing: "  \(ticket.description.uppercased())\n") == ticket)
      #expect(try Ticket(parsing: ticket.letterGroups.replacing(" ", with: "-\n")) == ticket)
    }
    #expect(try ticket(addresses: (1...20).map { "127.0.0.1:\($0)" }).addresses.count == 8)
  }

  @Test func expiryIsExact() throws {
    let ticket = try ticket(expires: Date(timeIntervalSince1970: 1_800_000_000))
    #expect(!ticket.isExpired(at: Date(timeIntervalSince1970: 1_799_999_999)))
    #expect(ticket.isExpired(at: Date(timeIntervalSince1970: 1_800_000_000)))
    #expect(try !self.ticket().isExpired(at: .distantFuture))
  }

  @Test func everyOtherTextIsInvalid() throws {
    let text = try ticket().description
    for count in 0..<text.count {
      #expect(throws: TicketError.ticketInvalid) { try Ticket(parsing: String(text.prefix(count))) }
    }
    for other in [
      "", "notes-lsp:", "hello", String(repeating: "a", count: 1_000_000), text + "a", "\u{0}", "notes-lsp:é",
    ] {
      #expect(throws: TicketError.ticketInvalid) { try Ticket(parsing: other) }
    }
  }

  @Test func damagedTicketsAreInvalid() throws {
    let seed: UInt64 = 4
    var random = SeededGenerator(seed: seed)
    let letters = Array(try ticket().description)
    for _ in 0..<2_000 {
      var damaged = letters
      let index = Int.random(in: Ticket.scheme.count..<letters.count, using: &random)
      let letter = Array("abcdefghijklmnopqrstuvwxyz234567").randomElement(using: &random) ?? "a"
      if damaged[index] == letter { continue }
      damaged[index] = letter
      #expect(throws: TicketError.ticketInvalid, "seed \(seed)") { try Ticket(parsing: String(damaged)) }
    }
  }

  @Test func base32IsThatOfTheStandard() {
    for (text, coded) in [
      ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"), ("fooba", "mzxw6ytb"),
      ("foobar", "mzxw6ytboi"),
    ] {
      #expect(Base32.encode(text.utf8) == coded)
      #expect(Base32.decode(coded) == Array(text.utf8))
      #expect(Base32.decode(coded.uppercased()) == Array(text.utf8))
    }
    for wrong in ["m", "mz1", "mzx", "mzxw6y", "my======", "mz"] { #expect(Base32.decode(wrong) == nil, "\(wrong)") }
  }

  @Test func addressesAreReadStrictly() {
    #expect(PeerAddress("127.0.0.1:80") == PeerAddress(host: "127.0.0.1", port: 80))
    #expect(PeerAddress("[::1]:80")?.description == "[::1]:80")
    #expect(PeerAddress("localhost:1")?.host == "127.0.0.1")
    for text in [
      "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", ":80", "a b:1", "\u{0}:1",
    ] {
      #expect(PeerAddress(text) == nil, "\(text)")
    }
    for host in ["127.0.0.1", "192.168.1.1", "::1", "2001:db8::1"] {
      #expect(PeerAddress(host: host, port: 1).isCallable)
      #expect(!PeerAddress(host: host, port: 0).isCallable)
    }
    for host in ["0.0.0.0", "127.1", "127.0.0.1.evil.org", "127.0.0.256", "::", "*", "example.org", "", "::g"] {
      #expect(!PeerAddress(host: host, port: 1).isCallable, "\(host)")
    }
  }
}

struct TicketBookTests {
  private let secret = [UInt8](repeating: 1, count: 16)
  private let wrong = [UInt8](repeating: 2, count: 16)
  private let date = Date(timeIntervalSince1970: 1_000)

  private func document(_ byte: UInt8 = 1) throws -> DocumentId {
    try #require(DocumentId(bytes: [UInt8](repeating: byte, count: 16)))
  }

  private func redeem(
    _ book: inout TicketBook, _ secret: [UInt8], by peer: String = "a", now: Duration = .zero
  ) throws -> TicketBook.Outcome {
    book.redeem(document: try document(), secret: secret, by: PeerId(peer), date: date, now: now)
  }

  @Test func aTicketIsGoodForSoManyPeers() throws {
    var book = TicketBook()
    book.issue(document: try document(), secret: secret, access: .read, uses: 2, expires: nil)
    #expect(try redeem(&book, secret, by: "a") == .accepted(.read))
    #expect(try redeem(&book, secret, by: "a") == .repeated(.read, isRecent: true))
    #expect(try redeem(&book, secret, by: "b") == .accepted(.read))
    #expect(try redeem(&book, secret, by: "c") == .refused(.ticketUsed))
    #expect(try redeem(&book, secret, by: "b") == .repeated(.read, isRecent: true))
    var again = TicketBook(record: try CBOR(book.record.encoded(), limits: .stored))
    #expect(try redeem(&again, secret, by: "a") == .repeated(.read, isRecent: true))
    #expect(try redeem(&again, secret, by: "c") == .refused(.ticketUsed))
  }

  @Test func anExpiredOrRevokedTicketIsNoTicket() throws {
    var book = TicketBook()
    book.issue(document: try document(), secret: secret, access: .write, uses: 1, expires: date)
    #expect(try redeem(&book, secret) == .refused(.ticketExpired))
    book.revoke(try document())
    #expect(try redeem(&book, secret) == .refused(.ticketInvalid))
  }

  @Test func anExpiredTicketIsStoredOnceHoweverOftenItIsPresented() async throws {
    let (note, secret) = (try document(), secret)
    try await TestLoop.run { loop in
      let storage = FaultyStorage(InMemoryStorage())
      let scene = try await DirectoryFixture(storage: storage)
      _ = try await scene.tickets.issue(
        note, secret: secret, access: .write, uses: 1, expiresIn: .seconds(-5), addresses: [])
      #expect(storage.saveCount == 1)
      storage.holdSaves(of: "tickets")
      for _ in 0..<100 { scene.tickets.presented(secret, for: note, by: PeerId("eve")) }
      #expect(scene.network.sent.count == 100)
      try await eventually("its expiry is being stored", on: loop) { storage.heldSaveCount > 0 }
      storage.holdSaves(of: nil)
      try await scene.tickets.save()
      #expect(storage.saveCount == 3)
    }
  }

  @Test func aClockThatIsSetBackGivesNoTicketMoreTime() throws {
    var book = TicketBook()
    book.issue(
      document: try document(), secret: secret, access: .write, uses: 1, expires: date.addingTimeInterval(60),
      deadline: .seconds(60))
    // An hour was taken from the calendar when half of the minute was over: the other half is left.
    func redeem(_ now: Duration) throws -> TicketBook.Outcome {
      book.redeem(
        document: try document(), secret: secret, by: PeerId("a"), date: date.addingTimeInterval(-3570),
        now: now)
    }
    #expect(try redeem(.seconds(59)) == .accepted(.write))
    #expect(try redeem(.seconds(60)) == .refused(.ticketExpired))
    // What was refused once stays so, in the store too.
    #expect(try redeem(.seconds(1)) == .refused(.ticketExpired))
    book = TicketBook(record: try CBOR(book.record.encoded(), limits: .stored))
    #expect(try redeem(.seconds(1)) == .refused(.ticketExpired))
  }

  @Test func aSecretOpensItsOwnDocumentOnly() throws {
    var book = TicketBook()
    book.issue(document: try document(2), secret: secret, access: .write, uses: 1, expires: nil)
    #expect(try redeem(&book, secret) == .refused(.ticketInvalid))
  }

  @Test func afterFiveWrongSecretsNoneIsReadForAMinute() throws {
    var book = TicketBook()
    book.issue(document: try document(), secret: secret, access: .write, uses: 9, expires: nil)
    for second in 0..<5 { #expect(try redeem(&book, wrong, now: .seconds(second)) == .refused(.ticketInvalid)) }
    #expect(try redeem(&book, secret, now: .seconds(5)) == .refused(.tooManyWrong))
    #expect(try redeem(&book, secret, by: "b", now: .seconds(5)) == .accepted(.write))
    #expect(try redeem(&book, wrong, now: .seconds(59)) == .refused(.tooManyWrong))
    #expect(try redeem(&book, secret, now: .seconds(60)) == .accepted(.write))
  }

  /// Who presents a revoked ticket has not guessed its secret.
  @Test func aRevokedTicketIsRefusedAndDoesNotCountAsAWrongSecret() throws {
    var book = TicketBook()
    let fresh = [UInt8](repeating: 3, count: 16)
    book.issue(document: try document(), secret: secret, access: .write, uses: 3, expires: nil)
    #expect(try redeem(&book, secret) == .accepted(.write))
    book.revoke(try document())
    book = TicketBook(record: try CBOR(book.record.encoded(), limits: .stored))
    let isAdmitting = book.admits(to: try document(), at: date)
    #expect(!isAdmitting)
    for peer in ["a", "b"] {
      for _ in 0..<9 { #expect(try redeem(&book, secret, by: peer) == .refused(.ticketInvalid)) }
    }
    book.issue(document: try document(), secret: fresh, access: .write, uses: 1, expires: nil)
    #expect(try redeem(&book, fresh) == .accepted(.write))
    // The control: a guess counts, whatever was revoked.
    for _ in 0..<5 { #expect(try redeem(&book, wrong, by: "b") == .refused(.ticketInvalid)) }
    #expect(try redeem(&book, wrong, by: "b") == .refused(.tooManyWrong))
  }

  @Test func theOwnerLearnsWhyATicketAdmitsNoOneAnyMore() throws {
    var book = TicketBook()
    func problem() throws -> TicketError? { book.problem(document: try document(), secret: secret, at: date) }
    #expect(try problem() == .ticketInvalid)
    book.issue(document: try document(), secret: secret, access: .write, uses: 1, expires: date.addingTimeInterval(1))
    #expect(try problem() == nil)
    #expect(try book.problem(document: document(), secret: secret, at: date.addingTimeInterval(1)) == .ticketExpired)
    _ = try redeem(&book, secret)
    #expect(try problem() == .ticketUsed)
    book.revoke(try document())
    #expect(try problem() == .ticketInvalid)
  }

  @Test func aFloodOfSourcesAndTicketsIsBounded() throws {
    var book = TicketBook()
    for number in 0..<5_000 { _ = try redeem(&book, wrong, by: "\(number)") }
    for _ in 0..<2_000 { book.issue(document: try document(), secret: wrong, access: .read, uses: 1, expires: nil) }
    #expect(book.record.array?.count == TicketBook.maximumTickets)
  }

  @Test func aDamagedRecordIsAnEmptyBook() throws {
    #expect(TicketBook(record: .null).record == .array([]))
    #expect(TicketBook(record: .array([1, .map([]), .record(["document": "x"])])).record == .array([]))
  }
}

struct GrantsTests {
  @Test func grantsOutliveARestartAndDefaultToNothing() async throws {
    try await TestLoop.run { _ in
      let storage = InMemoryStorage()
      let document = try #require(DocumentId(bytes: Array(1...16)))
      let other = try #require(DocumentId(bytes: Array(2...17)))
      let (ana, bob) = (PeerId("ana"), PeerId("bob"))
      let grants = try await Grants.load(from: storage)
      #expect(grants.access(document, for: ana) == .none)
      #expect(!grants.announce(document, to: ana))
      try await grants.grant(.write, on: document, to: ana)
      try await grants.grant(.read, on: document, to: ana)
      try await grants.grant(.read, on: document, to: bob)
      let again = try await Grants.load(from: storage)
      #expect(again.access(document, for: ana) == .write)
      #expect(again.access(document, for: bob) == .read)
      #expect(again.access(other, for: ana) == .none)
      #expect(again.documents(for: bob).map(\.document) == [document])
      try await again.revoke(document, from: ana)
      #expect(try await Grants.load(from: storage).peers(on: document) == [bob: .read])
      try await again.revoke(document, from: nil)
      #expect(try await Grants.load(from: storage).allPeers.isEmpty)
    }
  }
}
