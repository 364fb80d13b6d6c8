import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A stranger gets no line on the screen by connecting, by being heard, or by what it calls itself.
struct StrangersNamesTests {
  private static let speech = String(repeating: "Pay Eve 100 now! ", count: 5)

  @AutomergeRepo
  private func raw(to person: Person, called name: String, on loop: Loop) async throws -> RawPeer {
    let raw = try await RawPeer.connect(to: try #require(person.directory.listening), on: loop)
    try raw.join(called: name)
    try await eventually("connected", on: loop) { person.repo.peers[raw.peerId] != nil }
    return raw
  }

  /// Everything that is told to the person, as text.
  @AutomergeRepo
  private func told(_ person: Person) -> [String] { person.events.filter { $0 != .networkState }.map { "\($0)" } }

  @Test func connectingUnderALongNameSaysNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let before = self.told(ana).count
      for round in 0..<5 {
        let eve = try await self.raw(to: ana, called: "\(round) \(Self.speech)", on: loop)
        try eve.send(.other(type: "name", fields: ["name": .text(Self.speech)]))
        try eve.send(.other(type: "ping", fields: [:]))
        try await eventually("heard", on: loop) { eve.messages.contains(.other(type: "pong", fields: [:])) }
        #expect(ana.directory.name(of: eve.peerId).count <= 24)
        eve.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[eve.peerId] == nil }
      }
      #expect(self.told(ana)[before...].allSatisfy { !$0.contains("Pay Eve") })
      try await ana.stop()
    }
  }

  /// Wrong, used and expired tickets, and one that was good, over and over.
  @Test func ticketsThatArePresentedWithoutEndSayNothingMore() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      // The control: our person is told of a guest, once.
      #expect(try await ben.directory.join(ticket) == note.id)
      @AutomergeRepo func joined(_ peer: PeerId) -> Int {
        ana.events.count { if case .joined(peer, _, note.id) = $0 { true } else { false } }
      }
      try await eventually("Ana is told", on: loop) { joined(ben.peerId) == 1 }
      let before = self.told(ana).count
      for _ in 0..<20 { #expect(try await ben.directory.join(ticket) == note.id) }

      let eve = try await self.raw(to: ana, called: "Eve", on: loop)
      for secret in [ticket.secret, [UInt8](repeating: 7, count: 16)] {
        for _ in 0..<20 {
          try eve.send(
            .other(type: TicketMessage.type, fields: TicketMessage.present(note.id, secret: secret).fields))
        }
      }
      try await eve.pinged()
      #expect(joined(ben.peerId) == 1 && joined(eve.peerId) == 0)
      #expect(self.told(ana)[before...].allSatisfy { $0 == "peersChanged" }, "\(self.told(ana)[before...])")
      for person in [ana, ben] { try await person.stop() }
    }
  }

  /// A ticket may be presented again for a minute in case the answer was lost, but not for coming and going.
  @Test func aGuestThatGivesANoteBackCannotReturnByTheSameTicket() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      #expect(try await ben.directory.join(ticket) == note.id)
      ben.repo.send(
        type: GuestList.type, fields: GuestList(document: note.id, guests: []).fields, to: ana.peerId)
      try await eventually("Ana is told", on: loop) {
        ana.events.contains { if case .gaveUp(ben.peerId, _, note.id) = $0 { true } else { false } }
      }
      await #expect(throws: JoinError.ticket(.ticketUsed)) { try await ben.directory.join(ticket) }
      #expect(ana.grants.access(note.id, for: ben.peerId) == .none)
      // The control: our person lets him in again.
      let other = try #require(try await ana.directory.share(note.id))
      #expect(try await ben.directory.join(other) == note.id)
      #expect(ana.grants.access(note.id, for: ben.peerId) == .write)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func aStrangerNamedLikeEachFriendInTurnCausesFewWarnings() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      for number in 0..<10 {
        try await ana.directory.setTrust(.trusted, of: Identity().peerId, name: "Friend \(number)")
      }
      for number in 0..<10 {
        let eve = try await self.raw(to: ana, called: "friend \(number)", on: loop)
        #expect(ana.directory.name(of: eve.peerId).contains(eve.peerId.description.prefix(6)))
        eve.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[eve.peerId] == nil }
      }
      let warnings = ana.events.count { if case .namesake = $0 { true } else { false } }
      #expect(warnings == ArrivalLimit.maximumWarningsPerHour)
      try await ana.stop()
    }
  }

  @Test func aFriendIsToldOfAndComesAndGoesOnlySoOften() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let identity = Identity()
      try await ana.directory.setTrust(.trusted, of: identity.peerId, name: "Ben")
      for _ in 0..<30 {
        let ben = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop, as: identity)
        try ben.join(called: "Ben")
        try await eventually("connected", on: loop) { ana.repo.peers[identity.peerId] != nil }
        ben.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[identity.peerId] == nil }
      }
      let connections = ana.events.count { if case .online = $0 { true } else { false } }
      #expect((1...10).contains(connections))
      try await ana.stop()
    }
  }
}
