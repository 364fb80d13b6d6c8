import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// Two people's invitations, with the messages between them carried at once.
private struct Pair {
  let ana = Identity().peerId
  let ben = Identity().peerId
  var atAna: Invitations
  var atBen: Invitations
  var anaKnowsBen = false
  var benKnowsAna = false
  /// What happened at each.
  var anas: [Invitations.Effect] = []
  var bens: [Invitations.Effect] = []
  private var random = SeededGenerator(seed: 11)
  let document: DocumentId

  init() throws {
    (atAna, atBen) = (Invitations(local: ana), Invitations(local: ben))
    document = try #require(DocumentId(bytes: Array(1...16)))
  }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }

  mutating func invite(at now: Duration = .zero) {
    let effects = atAna.invite(
      ben, to: document, title: "Plans", access: .write, name: "Ana", id: bytes(16), nonce: bytes(32),
      knowsInvited: anaKnowsBen, at: now)
    carry(fromAna: effects, at: now)
  }

  mutating func answer(accepts: Bool) throws {
    let id = try #require(atBen.received(at: .zero).first?.id)
    let answered = atBen.answer(id, accepts: accepts)
    carry(fromBen: try #require(answered).1)
  }

  mutating func carry(
    fromAna: [Invitations.Effect] = [], fromBen: [Invitations.Effect] = [], at now: Duration = .zero
  ) {
    var queue = fromAna.map { (isAnas: true, effect: $0) } + fromBen.map { (isAnas: false, effect: $0) }
    while !queue.isEmpty {
      let (isAnas, effect) = queue.removeFirst()
      guard case .send(let message, let id, _) = effect else {
        if isAnas { anas.append(effect) } else { bens.append(effect) }
        continue
      }
      // As it goes over the wire.
      guard let (parsedId, parsed) = InviteMessage.parse(type: message.type, message.fields(of: id)) else {
        Issue.record("\(message) does not survive the wire")
        continue
      }
      let nonce = bytes(32)
      let answers =
        isAnas
        ? atBen.receive(parsed, invitation: parsedId, from: ana, isKnown: benKnowsAna, nonce: nonce, at: now)
        : atAna.receive(parsed, invitation: parsedId, from: ben, isKnown: anaKnowsBen, nonce: nonce, at: now)
      queue += answers.map { (!isAnas, $0) }
    }
  }

  var codes: (ana: String?, ben: String?) {
    (atAna.sent(at: .zero).first?.code, atBen.received(at: .zero).first?.code)
  }
}

struct InvitationsTests {
  @Test func onTheFirstMeetingBothSeeTheSameSixDigits() throws {
    for (anaKnows, benKnows) in [(false, false), (true, false), (false, true)] {
      var pair = try Pair()
      (pair.anaKnowsBen, pair.benKnowsAna) = (anaKnows, benKnows)
      pair.invite()
      let codes = pair.codes
      #expect(codes.ana == codes.ben)
      #expect(codes.ana?.count == 6 && codes.ana?.allSatisfy(\.isNumber) == true)
      #expect(pair.bens.count == 1)
    }
    var friends = try Pair()
    (friends.anaKnowsBen, friends.benKnowsAna) = (true, true)
    friends.invite()
    #expect(friends.codes == (nil, nil))
    #expect(friends.atBen.received(at: .zero).map(\.title) == ["Plans"])
  }

  @Test func aYesGrantsAndANoDoesNot() throws {
    var pair = try Pair()
    (pair.anaKnowsBen, pair.benKnowsAna) = (true, true)
    pair.invite()
    try pair.answer(accepts: true)
    guard case .grant(let sent)? = pair.anas.last else {
      Issue.record("\(pair.anas)")
      return
    }
    #expect(sent.document == pair.document && sent.access == .write && sent.peer == pair.ben)
    pair.carry(fromAna: [.send(.granted(.write), invitation: sent.id, to: pair.ben)])
    guard case .granted(let received, .write)? = pair.bens.last else {
      Issue.record("\(pair.bens)")
      return
    }
    #expect(received.document == pair.document)
    // Said once, it is done.
    pair.carry(fromAna: [.send(.granted(.write), invitation: sent.id, to: pair.ben)])
    #expect(pair.bens.count == 2)

    var other = try Pair()
    other.invite()
    try other.answer(accepts: false)
    guard case .declined? = other.anas.last else {
      Issue.record("\(other.anas)")
      return
    }
    #expect(other.atAna.sent(at: .zero).isEmpty && other.atBen.received(at: .zero).isEmpty)
  }

  @Test func thePersonThatComparesDigitsFirstGrantsLater() throws {
    for areEqual in [true, false] {
      var pair = try Pair()
      pair.invite()
      try pair.answer(accepts: true)
      guard case .confirm(let sent)? = pair.anas.last else {
        Issue.record("\(pair.anas)")
        return
      }
      #expect(sent.awaitsConfirmation)
      let effects = pair.atAna.confirm(sent.id, areEqual: areEqual)
      if areEqual {
        #expect(effects.count == 1)
        guard case .grant? = effects.first else {
          Issue.record("\(effects)")
          return
        }
      } else {
        pair.carry(fromAna: effects)
        guard case .withdrawn? = pair.bens.last else {
          Issue.record("\(pair.bens)")
          return
        }
      }
      #expect(pair.atAna.confirm(sent.id, areEqual: true).isEmpty)
    }
  }

  @Test func anAttackerInBetweenShowsOtherDigits() throws {
    // Eve has a key of her own for each side and passes on the numbers.
    let (ana, ben, eve) = (Identity(), Identity(), Identity())
    var equal = 0
    for round in 0..<200 {
      let (anas, bens) = (
        [UInt8](repeating: UInt8(round), count: 32), [UInt8](repeating: UInt8(255 - round), count: 32)
      )
      let atAna = ShortAuthenticationString.digits(
        inviter: ana.fingerprint, inviterNonce: anas, invited: eve.fingerprint, invitedNonce: bens)
      let atBen = ShortAuthenticationString.digits(
        inviter: eve.fingerprint, inviterNonce: anas, invited: ben.fingerprint, invitedNonce: bens)
      if atAna == atBen { equal += 1 }
    }
    #expect(equal == 0)
  }

  @Test func anInviterThatShowsAnotherNumberThanItsCommitmentIsNotShown() throws {
    var pair = try Pair()
    let id = pair.bytes(16)
    let document = pair.document
    func offer(_ commitment: [UInt8]) -> InviteMessage {
      .offer(
        .init(document: document, title: "x", access: .read, name: "A", commitment: commitment, knowsInvited: false))
    }
    func receive(_ message: InviteMessage) -> [Invitations.Effect] {
      pair.atBen.receive(
        message, invitation: id, from: pair.ana, isKnown: false, nonce: [UInt8](repeating: 1, count: 32), at: .zero)
    }
    let fingerprints = (Identity.fingerprint(of: pair.ana) ?? [], Identity.fingerprint(of: pair.ben) ?? [])
    let committed = ShortAuthenticationString.commitment(
      to: [UInt8](repeating: 7, count: 32), inviter: fingerprints.0, invited: fingerprints.1)
    #expect(receive(offer(committed)).count == 1)
    #expect(receive(.opening(nonce: [UInt8](repeating: 8, count: 32))) == [.cheated(pair.ana)])
    #expect(receive(.opening(nonce: [UInt8](repeating: 7, count: 32))) == [])
    #expect(pair.atBen.received(at: .zero).isEmpty)
  }

  @Test func whatWasLostWithALinkIsSaidAgain() throws {
    for lostCount in 0..<5 {
      var pair = try Pair()
      let (ana, ben) = (pair.ana, pair.ben)
      var carried = 0
      func exchange(_ first: [Invitations.Effect], isAnas: Bool) {
        var queue = first.map { (isAnas, $0) }
        while !queue.isEmpty {
          let (isAnas, effect) = queue.removeFirst()
          if case .confirm(let sent) = effect {
            queue += pair.atAna.confirm(sent.id, areEqual: true).map { (true, $0) }
          }
          if case .repeatGrant(let sent) = effect {
            queue.append((true, .send(.granted(sent.access), invitation: sent.id, to: ben)))
          }
          if case .grant(let sent) = effect {
            queue.append((true, .send(.granted(sent.access), invitation: sent.id, to: ben)))
          }
          guard case .send(let message, let id, _) = effect else {
            if isAnas { pair.anas.append(effect) } else { pair.bens.append(effect) }
            continue
          }
          carried += 1
          // The link breaks once: this message and all that would follow it are gone.
          if carried == lostCount + 1 { return }
          let nonce = pair.bytes(32)
          let answers =
            isAnas
            ? pair.atBen.receive(message, invitation: id, from: ana, isKnown: false, nonce: nonce, at: .zero)
            : pair.atAna.receive(message, invitation: id, from: ben, isKnown: false, nonce: nonce, at: .zero)
          queue += answers.map { (!isAnas, $0) }
        }
      }
      func reconnect() {
        exchange(pair.atAna.reconnected(to: ben), isAnas: true)
        exchange(pair.atBen.reconnected(to: ana), isAnas: false)
      }
      let invited = pair.atAna.invite(
        ben, to: pair.document, title: "Plans", access: .write, name: "Ana", id: pair.bytes(16), nonce: pair.bytes(32),
        knowsInvited: false, at: .zero)
      exchange(invited, isAnas: true)
      reconnect()
      let id = try #require(pair.atBen.received(at: .zero).first?.id, "lost \(lostCount)")
      let answer = pair.atBen.answer(id, accepts: true)
      exchange(try #require(answer).1, isAnas: false)
      reconnect()
      guard case .granted? = pair.bens.last else {
        Issue.record("lost \(lostCount): \(pair.bens)")
        continue
      }
      #expect(pair.anas.count { if case .grant = $0 { true } else { false } } == 1)
      #expect(pair.bens.count == 2)
    }
  }

  @Test func noOtherPeerCanAnswerOrGrant() throws {
    var pair = try Pair()
    pair.invite()
    let id = try #require(pair.atAna.sent(at: .zero).first?.id)
    let eve = Identity().peerId
    for message in [InviteMessage.answer(accepts: true), .nonce([UInt8](repeating: 0, count: 32), knowsInviter: true)] {
      #expect(
        pair.atAna.receive(message, invitation: id, from: eve, isKnown: true, nonce: [], at: .zero) == [])
    }
    for message in [InviteMessage.granted(.write), .withdrawn, .opening(nonce: [UInt8](repeating: 0, count: 32))] {
      #expect(
        pair.atBen.receive(message, invitation: id, from: eve, isKnown: true, nonce: [], at: .zero) == [])
    }
    // And a grant before the yes opens nothing.
    #expect(
      pair.atBen.receive(.granted(.write), invitation: id, from: pair.ana, isKnown: true, nonce: [], at: .zero) == [])
  }

  /// Two people share a dozen notes on their first day, or one of them cannot make up her mind.
  @Test func ofAPersonOneHasMetAsManyAreHeardAsOneAccepts() throws {
    var pair = try Pair()
    (pair.anaKnowsBen, pair.benKnowsAna) = (true, true)
    func arrived() -> Int { pair.bens.count { if case .arrived = $0 { true } else { false } } }
    for count in 1...20 {
      pair.invite()
      #expect(arrived() == count)
      try pair.answer(accepts: true)
      let sent = try #require(pair.anas.last { if case .grant = $0 { true } else { false } })
      guard case .grant(let invitation) = sent else { return }
      pair.carry(fromAna: [.send(.granted(.write), invitation: invitation.id, to: pair.ben)])
    }
    for _ in 0..<20 {
      pair.invite()
      if !pair.atBen.received(at: .zero).isEmpty { try pair.answer(accepts: false) }
    }
    #expect(arrived() == 20 + Invitations.maximumPerFriendAndHour)
  }

  @Test func threeInAnHourAreHeardAndSixteenInAll() throws {
    var pair = try Pair()
    for round in 0..<10 { pair.invite(at: .seconds(round)) }
    #expect(pair.bens.count == Invitations.maximumPerStrangerAndHour)
    // The newest for a document is the only one.
    #expect(pair.atBen.received(at: .seconds(10)).count == 1)
    pair.invite(at: .seconds(3700))
    #expect(pair.bens.count == Invitations.maximumPerStrangerAndHour + 1)
    #expect(pair.atBen.received(at: .seconds(3700) + Invitations.lifetime).isEmpty)

    var invitations = Invitations(local: pair.ben)
    var shown = 0
    for round in 0..<100 {
      let peer = Identity()
      let id = [UInt8](repeating: UInt8(round), count: 16)
      let nonce = [UInt8](repeating: 3, count: 32)
      let offer = InviteMessage.Offer(
        document: pair.document, title: "x", access: .write, name: "E",
        commitment: ShortAuthenticationString.commitment(
          to: nonce, inviter: peer.fingerprint, invited: Identity.fingerprint(of: pair.ben) ?? []), knowsInvited: false)
      for message in [InviteMessage.offer(offer), .opening(nonce: nonce)] {
        let effects = invitations.receive(
          message, invitation: id, from: peer.peerId, isKnown: false, nonce: nonce, at: .zero)
        if case .arrived? = effects.last { shown += 1 }
      }
    }
    #expect(shown == Invitations.maximumOpen)
    #expect(invitations.received(at: .zero).count == Invitations.maximumOpen)
  }

  @Test func fieldsThatMakeNoSenseAreNoMessage() throws {
    var pair = try Pair()
    let seed: UInt64 = 5
    var random = SeededGenerator(seed: seed)
    let id = pair.bytes(16)
    let offer = InviteMessage.offer(
      .init(
        document: pair.document, title: "x", access: .read, name: "A", commitment: pair.bytes(32), knowsInvited: true))
    let wrong: [CBOR] = [.null, .integer(-1), .text(""), .bytes(Data()), .array([]), true, .bytes(Data(count: 31))]
    for message in [offer, .opening(nonce: pair.bytes(32)), .nonce(pair.bytes(32), knowsInviter: true)] {
      for key in ["invitation", "documentId", "access", "commitment", "nonce"] where message.fields(of: id)[key] != nil
      {
        for value in wrong {
          var fields = message.fields(of: id)
          fields[key] = value
          #expect(InviteMessage.parse(type: message.type, fields) == nil, "\(key) = \(value)")
        }
      }
    }
    // Any order of any messages leaves the machine standing.
    for _ in 0..<2_000 {
      let message: InviteMessage =
        [
          offer, .opening(nonce: pair.bytes(32)), .granted(.write), .withdrawn,
          .nonce(pair.bytes(32), knowsInviter: false), .answer(accepts: true), .answer(accepts: false),
        ].randomElement(using: &random) ?? offer
      _ = pair.atBen.receive(
        message, invitation: [UInt8](repeating: UInt8.random(in: 0...3, using: &random), count: 16), from: pair.ana,
        isKnown: .random(using: &random), nonce: pair.bytes(32), at: .seconds(Int.random(in: 0...9999, using: &random)))
      #expect(pair.atBen.received(at: .zero).count <= Invitations.maximumOpen, "seed \(seed)")
    }
  }
}
