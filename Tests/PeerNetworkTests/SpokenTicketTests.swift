import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// Tickets as words: the list, the text, and coming with them.
struct SpokenTicketTests {
  @Test func theWordsAreUnambiguous() {
    let words = TicketWordList.words
    #expect(words.count == 1 << SpokenTicket.bitsPerWord)
    #expect(words == words.sorted())
    #expect(Set(words.map { $0.prefix(4) }).count == words.count)
    #expect(words.allSatisfy { (3...8).contains($0.count) && $0.allSatisfy { ("a"..."z").contains($0) } })
    let sorted = words.map { Array($0.utf8) }
    for (index, word) in sorted.enumerated() {
      for other in sorted[(index + 1)...] {
        #expect(!other.starts(with: word), "\(String(decoding: word, as: UTF8.self))")
        #expect(SpokenTicketTests.difference(word, other) > 1)
      }
    }
  }

  /// Places at which two words of one length differ; 2 where the lengths differ by more than one, or no one letter that is
  /// left out makes them equal.
  private static func difference(_ word: [UInt8], _ other: [UInt8]) -> Int {
    if word.count == other.count { return zip(word, other).count { $0 != $1 } }
    let (short, long) = word.count < other.count ? (word, other) : (other, word)
    guard long.count == short.count + 1 else { return 2 }
    let start = zip(short, long).prefix { $0 == $1 }.count
    return short[start...].elementsEqual(long[(start + 1)...]) ? 1 : 2
  }

  private func ticket(_ random: inout SeededGenerator, addresses: [String]) throws -> Ticket {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
    let document = try #require(DocumentId(bytes: bytes(16)))
    return try #require(
      Ticket(
        peer: Identity.peerId(of: bytes(32)), document: document, secret: bytes(16), access: .write, expires: nil,
        addresses: addresses.compactMap { PeerAddress($0) }))
  }

  @Test func wordsSurviveBeingSaidAndWritten() throws {
    let seed: UInt64 = 8
    var random = SeededGenerator(seed: seed)
    for round in 0..<200 {
      let port = UInt16.random(in: 1...65535, using: &random)
      let addresses = round % 2 == 0 ? ["[fe80::1]:7000", "192.168.1.\(round):\(port)"] : []
      let ticket = try ticket(&random, addresses: addresses)
      let words = ticket.words
      let read = try #require(SpokenTicket(parsing: words), "seed \(seed), \(words)")
      #expect(words.split(separator: " ").count == (round % 2 == 0 ? 25 : 20))
      #expect(read.isFrom(ticket.peer) && read.secretStart == Array(ticket.secret.prefix(10)))
      #expect(read.address == (round % 2 == 0 ? PeerAddress("192.168.1.\(round):\(port)") : nil))
      #expect(SpokenTicket(parsing: words.uppercased().replacing(" ", with: ",\n")) == read)
      let short = words.split(separator: " ").map { $0.prefix(4) }.joined(separator: "-")
      #expect(SpokenTicket(parsing: short) == read, "four letters are enough")
      // Neither form is taken for the other.
      #expect(SpokenTicket(parsing: ticket.letterGroups) == nil)
      #expect(throws: TicketError.ticketInvalid) { try Ticket(parsing: words) }
    }
  }

  @Test func aWordThatIsWrongIsNoticed() throws {
    let seed: UInt64 = 9
    var random = SeededGenerator(seed: seed)
    let words = try ticket(&random, addresses: ["10.0.0.1:7000"]).words.split(separator: " ").map { String($0) }
    var unnoticed = 0
    let rounds = 3000
    for _ in 0..<rounds {
      var damaged = words
      let index = Int.random(in: 0..<words.count, using: &random)
      damaged[index] = TicketWordList.words.randomElement(using: &random) ?? ""
      if damaged != words, SpokenTicket(parsing: damaged.joined(separator: " ")) != nil { unnoticed += 1 }
    }
    // One of 1024 by chance.
    #expect(unnoticed < 20, "\(unnoticed) of \(rounds), seed \(seed)")
    for count in 0..<words.count { #expect(SpokenTicket(parsing: words.prefix(count).joined(separator: " ")) == nil) }
    for other in ["", "hello", String(repeating: "acorn ", count: 25), String(repeating: "a", count: 100_000)] {
      #expect(SpokenTicket(parsing: other) == nil)
    }
  }

  @Test func aPeerWithTheWordsIsLetInAsOftenAsAgreed() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("soup"))
      let words = try #require(try await ana.directory.share(note.id, uses: 2)).words
      #expect(words.split(separator: " ").count == 25)
      var guests: [Person] = []
      for name in ["Ben", "Eva"] {
        let guest = try await Person.start(name, on: loop, storage: InMemoryStorage(), listen: nil)
        #expect(try await guest.directory.join(ticket: words) == note.id)
        let copy = try await guest.find(note.id)
        #expect(try copy.document.content() == "soup")
        guests.append(guest)
      }
      try await ana.find(note.id).splice(0, "pea ")
      let copy = try await guests[0].find(note.id)
      try await eventually("Ben hears Ana", on: loop) { (try? copy.document.content()) == "pea soup" }
      let late = try await Person.start("Leo", on: loop, storage: InMemoryStorage(), listen: nil)
      await #expect(throws: JoinError.ticket(.ticketUsed)) { try await late.directory.join(ticket: words) }
      // What is taken back, or too old, opens nothing.
      let old = try #require(try await ana.directory.share(note.id, expiresIn: .seconds(-5))).words
      await #expect(throws: JoinError.ticket(.ticketExpired)) { try await late.directory.join(ticket: old) }
      let taken = try #require(try await ana.directory.share(note.id)).words
      try await ana.directory.unshare(note.id)
      await #expect(throws: JoinError.ticketRevoked) { try await late.directory.join(ticket: taken) }
      for person in guests + [ana, late] { try await person.stop() }
    }
  }

  @Test func withoutAnAddressTheyFindEachOtherNearby() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      let note = try ana.repo.create(try .note("soup"))
      let words = try #require(try await ana.directory.share(note.id, addresses: [])).words
      #expect(words.split(separator: " ").count == 20)
      await #expect(throws: JoinError.self) { try await ben.directory.join(ticket: words) }
      let address = try #require(ana.directory.listening)
      ben.directory.discovered(.appeared(.init(peer: ana.peerId, name: "Ana", addresses: [address])))
      #expect(try await ben.directory.join(ticket: words) == note.id)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func anotherPeerThatAnswersThereLearnsNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      let note = try ana.repo.create(try .note("soup"))
      let trap = try #require(eve.directory.listening)
      let words = try #require(try await ana.directory.share(note.id, addresses: [trap])).words
      await #expect(throws: JoinError.unreachable(address: trap.description, reason: "another peer answers there")) {
        try await ben.directory.join(ticket: words)
      }
      #expect(eve.events.allSatisfy { $0 == .networkState })
      for person in [ana, eve, ben] { try await person.stop() }
    }
  }
}
