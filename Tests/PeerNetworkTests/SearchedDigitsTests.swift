import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// An attacker in between looks for numbers that make the digits of two people equal: each try costs a new key and one
/// offer that is broken off as soon as the digits are known.
struct SearchedDigitsTests {
  private let ben = Identity().peerId
  private let number = [UInt8](repeating: 3, count: 32)

  private func document() throws -> DocumentId { try #require(DocumentId(bytes: Array(1...16))) }

  private func offer(from peer: Identity) throws -> InviteMessage {
    let commitment = ShortAuthenticationString.commitment(
      to: number, inviter: peer.fingerprint, invited: Identity.fingerprint(of: ben) ?? [])
    return .offer(
      .init(
        document: try document(), title: "x", access: .write, name: "Ana", commitment: commitment, knowsInvited: false))
  }

  /// Whether the effects tell the number by which the digits can be computed.
  private func showsNumber(_ effects: [Invitations.Effect]) -> Bool {
    effects.contains { if case .send(.nonce, _, _) = $0 { true } else { false } }
  }

  private enum Ending: CaseIterable { case silence, withdrawnUnopened, withdrawn, anotherOffer }

  @Test func ofManyKeysThreeAnHourLearnTheDigitsAndBreakOff() throws {
    for ending in Ending.allCases {
      var invitations = Invitations(local: ben)
      var tries = 0
      for round in 0..<1_000 {
        let eve = Identity()
        let id = [UInt8](repeating: 0, count: 14) + [UInt8(round >> 8), UInt8(truncatingIfNeeded: round)]
        func receive(_ message: InviteMessage, _ id: [UInt8]) -> [Invitations.Effect] {
          invitations.receive(
            message, invitation: id, from: eve.peerId, isKnown: false, nonce: number, at: .seconds(round))
        }
        if showsNumber(receive(try offer(from: eve), id)) { tries += 1 }
        switch ending {
        case .silence: break
        case .withdrawnUnopened: _ = receive(.withdrawn, id)
        case .withdrawn:
          _ = receive(.opening(nonce: number), id)
          _ = receive(.withdrawn, id)
        case .anotherOffer:
          // The same key again, in place of the first.
          _ = receive(.opening(nonce: number), id)
          if showsNumber(receive(try offer(from: eve), Array(id.reversed()))) { tries += 1 }
        }
      }
      // Of those that were opened and stay, the person sees every one.
      let shown = invitations.received(at: .seconds(999)).count
      #expect(tries - shown <= 3, "\(ending)")
      #expect(shown <= Invitations.maximumOpen)
    }
  }

  /// The inviter chooses the id of an invitation: one that comes again is no less a try.
  @Test func oneIdForAllKeysIsNoCheaper() throws {
    for isOpenedLast in [false, true] {
      var invitations = Invitations(local: ben)
      let id = [UInt8](repeating: 5, count: 16)
      var tries = 0
      for round in 0..<100 {
        let eve = Identity()
        func receive(_ message: InviteMessage) -> [Invitations.Effect] {
          invitations.receive(
            message, invitation: id, from: eve.peerId, isKnown: false, nonce: number, at: .seconds(round))
        }
        if showsNumber(receive(try offer(from: eve))) { tries += 1 }
        if isOpenedLast, tries == 3 { _ = receive(.opening(nonce: number)) }
        _ = receive(.withdrawn)
      }
      #expect(tries == 3, "tries in an hour")
    }
  }

  /// Nor does it become cheaper by the invitations of a friend who helps.
  @Test func aFriendsInvitationPaysForNoStrangersTry() throws {
    var invitations = Invitations(local: ben)
    let (id, friend) = ([UInt8](repeating: 5, count: 16), Identity())
    var tries = 0
    for round in 0..<10 {
      let eve = Identity()
      for (peer, isKnown) in [(eve, false), (friend, true)] {
        func receive(_ message: InviteMessage) -> [Invitations.Effect] {
          invitations.receive(
            message, invitation: id, from: peer.peerId, isKnown: isKnown, nonce: number, at: .seconds(round))
        }
        let isShown = showsNumber(receive(try offer(from: peer)))
        if isShown, !isKnown { tries += 1 }
        if isKnown { _ = receive(.opening(nonce: number)) }
        _ = receive(.withdrawn)
      }
    }
    #expect(tries == 3, "tries in an hour")
  }

  /// All at once, over as many links as there may be.
  @Test func openOnesCountWhileTheyAreUnopened() throws {
    var invitations = Invitations(local: ben)
    var tries = 0
    for round in 0..<32 {
      let eve = Identity()
      let effects = invitations.receive(
        try offer(from: eve), invitation: [UInt8](repeating: UInt8(round), count: 16), from: eve.peerId, isKnown: false,
        nonce: number, at: .zero)
      if showsNumber(effects) { tries += 1 }
    }
    #expect(tries <= 3)
  }

  /// The control: an inviter that was interrupted comes back with the same number, which costs nothing and tells nothing new.
  @Test func anInviterWhoseLinkBreaksGoesOnWhereItWas() throws {
    var invitations = Invitations(local: ben)
    let ana = Identity()
    let id = [UInt8](repeating: 7, count: 16)
    var numbers: Set<UInt8> = []
    for round in 0..<9 {
      let effects = invitations.receive(
        try offer(from: ana), invitation: id, from: ana.peerId, isKnown: false,
        nonce: [UInt8](repeating: UInt8(round), count: 32), at: .seconds(round))
      for case .send(.nonce(let nonce, _), _, _) in effects { numbers.insert(nonce[0]) }
      #expect(showsNumber(effects))
      _ = round % 2 == 0 ? invitations.linkEnded(ana.peerId) : invitations.expire(at: .seconds(round + 10))
    }
    #expect(numbers == [0])
    // Also if only the opening was lost.
    let opened = invitations.receive(
      .opening(nonce: number), invitation: id, from: ana.peerId, isKnown: false, nonce: [], at: .seconds(30))
    #expect(opened.contains { if case .arrived = $0 { true } else { false } })
    // No other peer comes back in her place.
    let eve = Identity()
    let theft = invitations.receive(
      try offer(from: eve), invitation: id, from: eve.peerId, isKnown: false, nonce: number, at: .seconds(31))
    #expect(!showsNumber(theft))
  }

  @Test func theBudgetOutlivesARestartAndAClockThatIsSet() throws {
    var budget = OfferBudget()
    let begun = (0..<4).map { budget.begin([UInt8($0)], at: .seconds(100 + $0)) }
    #expect(begun == [true, true, true, false])
    let record = try CBOR(
      budget.record(now: .seconds(110), date: Date(timeIntervalSince1970: 5_000)).encoded(), limits: .stored)
    for (seconds, opens) in [(10, false), (3_500, false), (3_700, true), (-9_999, false)] as [(TimeInterval, Bool)] {
      let date = Date(timeIntervalSince1970: 5_000 + seconds)
      var again = OfferBudget(record: record, now: .seconds(3), date: date)
      let isTaken = again.begin([9], at: .seconds(3))
      #expect(isTaken == opens, "\(seconds)")
    }
    for nonsense in [.null, .array([]), .record(["brokenOff": .array([.float(.nan), .text("x"), .float(.infinity)])])]
      as [CBOR]
    {
      var again = OfferBudget(record: nonsense, now: .zero, date: .distantPast)
      let isTaken = again.begin([9], at: .zero)
      #expect(isTaken)
    }
  }

  /// Against a whole program: Eve calls again and again with new keys, also after a restart.
  @Test func aServiceShowsItsNumberThreeTimesAndSaysThatAPeerBrokeOff() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      var ana = try await Person.start("Ana", on: loop, storage: disk)
      var tries = 0
      for round in 0..<8 {
        let eve = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop)
        try eve.join(called: "Ben")
        let offer = InviteMessage.offer(
          .init(
            document: try self.document(), title: "x", access: .write, name: "Ben",
            commitment: ShortAuthenticationString.commitment(
              to: self.number, inviter: eve.identity.fingerprint,
              invited: Identity.fingerprint(of: ana.peerId) ?? []),
            knowsInvited: false))
        let id = [UInt8](repeating: UInt8(round), count: 16)
        try eve.send(.other(type: offer.type, fields: offer.fields(of: id)))
        try eve.send(.other(type: "ping", fields: [:]))
        try await eventually("answered", on: loop) { eve.messages.contains(.other(type: "pong", fields: [:])) }
        tries += eve.fields(ofType: InviteMessage.answerType).count
        eve.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[eve.peerId] == nil }
        if round == 4 {
          #expect(ana.events.count { if case .brokeOff(_, name: "Ben") = $0 { true } else { false } } == 3)
          #expect(ana.events.count { $0 == .closedToStrangers } == 1)
          try await ana.repo.flush()
          try await ana.stop()
          ana = try await Person.start("Ana", on: loop, storage: disk)
        }
      }
      #expect(tries == 3)
      // The control: a friend is heard.
      let ben = Identity()
      try await ana.directory.setTrust(.trusted, of: ben.peerId, name: "Ben")
      let friend = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop, as: ben)
      try friend.join(called: "Ben")
      let offer = InviteMessage.offer(
        .init(
          document: try self.document(), title: "x", access: .write, name: "Ben",
          commitment: ShortAuthenticationString.commitment(
            to: self.number, inviter: ben.fingerprint, invited: Identity.fingerprint(of: ana.peerId) ?? []),
          knowsInvited: true))
      let id = [UInt8](repeating: 99, count: 16)
      for message in [offer, .opening(nonce: self.number)] {
        try friend.send(.other(type: message.type, fields: message.fields(of: id)))
      }
      try await eventually("heard", on: loop) { ana.directory.receivedInvitations.map(\.id) == [id] }
      try await ana.stop()
    }
  }
}
