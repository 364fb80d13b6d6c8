import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// The smaller ways in which strangers stood between friends: names, addresses, and wrong secrets.
struct BorrowedPeerNameTests {
  /// Ben has shared a note with Ana.
  @AutomergeRepo
  private func friends(_ loop: Loop) async throws -> (ana: Person, ben: Person) {
    let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
    let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
    let note = try ben.repo.create(try .note("x"))
    _ = try await ana.find(try await ana.directory.join(try #require(try await ben.directory.share(note.id))))
    return (ana, ben)
  }

  @Test(arguments: ["Ben", "ben", " BEN ", "B\u{200b}en"])
  func aNameBelongsToThePeerThatWasMetUnderIt(name: String) async throws {
    try await TestLoop.run { loop in
      let (ana, ben) = try await self.friends(loop)
      let eve = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
      try eve.join(called: name)
      try await eventually("connected", on: loop) { ana.repo.peers[eve.peerId] != nil }
      for _ in 0..<2 {
        let shown = ana.directory.name(of: eve.peerId)
        #expect(shown.lowercased() != "ben")
        #expect(shown.contains(eve.peerId.description.prefix(4)))
        #expect(ana.directory.name(of: ben.peerId) == "Ben")
        try eve.send(.other(type: "name", fields: ["name": .text(name)]))
        try eve.send(.other(type: "ping", fields: [:]))
        try await eventually("heard", on: loop) { eve.messages.contains(.other(type: "pong", fields: [:])) }
      }
      // The control: another name is shown as it is.
      let tom = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
      try tom.join(called: "Benno")
      try await eventually("connected", on: loop) { ana.repo.peers[tom.peerId] != nil }
      #expect(ana.directory.name(of: tom.peerId) == "Benno")
      for person in [ana, ben] { try await person.stop() }
    }
  }

  /// The first line that the person sees of an invitation is the warning, not only the list that they may open later.
  @Test func anInvitationFromAnotherKeyOfANameSaysSoWhenItComes() async throws {
    try await TestLoop.run { loop in
      let (ana, ben) = try await self.friends(loop)
      let eve = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      eve.directory.discovered(
        .appeared(.init(peer: ana.peerId, name: "Ana", addresses: [try #require(ana.directory.listening)])))
      let note = try eve.repo.create(try .note("x"))
      async let invited = try? eve.directory.invite(ana.peerId, to: note.id, title: "X")
      try await eventually("the invitation", on: loop) {
        ana.events.contains { if case .invited = $0 { true } else { false } }
      }
      let invitations = ana.events.compactMap { if case .invited(let invitation) = $0 { invitation } else { nil } }
      #expect(invitations.map(\.peer) == [eve.peerId] && invitations.allSatisfy(\.isNameShared))
      _ = await invited
      for person in [ana, ben, eve] { try await person.stop() }
    }
  }

  /// Both sides see the same digits at any time, and a second key under one name is a warning on every way to it.
  @Test func digitsAreEqualOnBothSidesAndAnotherKeyOfANameIsAWarning() async throws {
    try await TestLoop.run { loop in
      let (ana, ben) = try await self.friends(loop)
      let code = ana.directory.verificationCode(with: ben.peerId)
      #expect(code?.count == 30 && code == ben.directory.verificationCode(with: ana.peerId))
      #expect(!ana.directory.isNameShared(by: ben.peerId) && !ben.directory.isNameShared(by: ana.peerId))
      let eve = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
      try eve.join(called: "Ben")
      try await eventually("connected", on: loop) { ana.repo.peers[eve.peerId] != nil }
      #expect(ana.directory.isNameShared(by: ben.peerId) && ana.directory.isNameShared(by: eve.peerId))
      #expect(ana.directory.verificationCode(with: eve.peerId) != code)
      #expect(ana.events.contains(.namesake(eve.peerId, name: "Ben")))
      // Said once an hour, however often she comes.
      eve.stream.close()
      try await eventually("gone", on: loop) { ana.repo.peers[eve.peerId] == nil }
      #expect(!ana.directory.isNameShared(by: ben.peerId))
      let again = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
      try again.join(called: "ben")
      try await eventually("connected", on: loop) { ana.repo.peers[again.peerId] != nil }
      #expect(ana.events.count { if case .namesake = $0 { true } else { false } } == 1)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func spoofedAnnouncementsDoNotPushAwayWhereAFriendWas() async throws {
    try await TestLoop.run { loop in
      let (ana, ben) = try await self.friends(loop)
      let real = try #require(ben.directory.listening)
      let spoofed = (1...8).compactMap { PeerAddress("10.9.9.\($0):7000") }
      ana.directory.discovered(.appeared(.init(peer: ben.peerId, name: "Ben", addresses: spoofed)))
      let addresses = ana.directory.registry.addresses(of: ben.peerId)
      #expect(addresses.contains(real) && addresses.count <= Ticket.maximumAddresses)
      // What is heard is still tried: it may have moved.
      #expect(addresses.contains(spoofed[0]))
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func eightServicesThatClaimToBeAFriendDoNotHideTheRealOne() {
    let ben = Identity().peerId
    var nearby = NearbyPeers(local: Identity().peerId)
    let real = Announcement(peer: ben, name: "Ben", port: 7000)
    _ = nearby.hear(real, at: "10.0.0.2", from: .init(interface: 2, networkProtocol: 1, service: real.label))
    for number in 0..<20 {
      _ = nearby.hear(
        Announcement(peer: ben, name: "Not Ben", port: 7000), at: "10.9.9.\(number)",
        from: .init(interface: 1, networkProtocol: 0, service: "a\(number)"))
    }
    #expect(nearby[ben]?.addresses.contains(PeerAddress(host: "10.0.0.2", port: 7000)) == true)
    #expect(nearby[ben]?.name == "Ben")
  }

  /// Behind one address there may be many people.
  @Test func wrongSecretsOfOnePeerShutOutNoOther() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let ticket = try #require(try await ana.directory.share(note.id))
      let eve = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
      try eve.join()
      for _ in 0..<9 {
        let wrong = TicketMessage.present(note.id, secret: [UInt8](repeating: 9, count: 16))
        try eve.send(.other(type: TicketMessage.type, fields: wrong.fields))
      }
      try eve.send(.other(type: "ping", fields: [:]))
      try await eventually("heard", on: loop) { eve.messages.contains(.other(type: "pong", fields: [:])) }
      let errors = eve.fields(ofType: TicketMessage.type).map { $0["error"]?.text }
      let readCount = errors.prefix { $0 == "ticketInvalid" }.count
      #expect(readCount == TicketBook.wrongSecretsPerMinute)
      #expect(errors.count == 9 && errors.dropFirst(readCount).allSatisfy { $0 == "tooManyWrong" })
      #expect(try await ben.directory.join(ticket) == note.id)
      for person in [ana, ben] { try await person.stop() }
    }
  }

  @Test func aTicketLivesADayUnlessSaidOtherwise() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let note = try ana.repo.create(try .note("x"))
      let day: TimeInterval = 24 * 3600
      let expires = try #require(try await ana.directory.share(note.id)).expires
      #expect(abs(try #require(expires).timeIntervalSinceNow - day) < 300)
      let longer = try #require(try await ana.directory.share(note.id, expiresIn: .seconds(9 * 24 * 3600))).expires
      #expect(abs(try #require(longer).timeIntervalSinceNow - 9 * day) < 300)
      try await ana.stop()
    }
  }
}
