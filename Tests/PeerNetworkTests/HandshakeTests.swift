import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

struct HandshakeTests {
  private let us = LocalPeer(peerId: PeerId("us"), metadata: PeerMetadata(name: "Us"))
  private let them = PeerId("them")
  private let metadata = PeerMetadata(name: "Them")

  private func opened(_ role: PeerHandshake.Role) -> PeerHandshake {
    var handshake = PeerHandshake(role: role, local: us)
    _ = handshake.receive(.opened(.sameUser))
    return handshake
  }

  @Test func whatWentWrongIsSaidInWords() {
    let all: [HandshakeError] = [
      .unexpectedMessage, .versionMismatch, .wrongPeer, .ownPeerId, .unusablePeerId, .timedOut, .refused("no place"),
    ]
    for error in all {
      let words = PeerNetworkError.handshake(error).description
      #expect(words.contains(" "))
      #expect(error.errorDescription == words)
    }
    #expect(PeerNetworkError.handshake(.timedOut).description == "the peer did not answer in time")
  }

  @Test func dialerAndListenerMeet() {
    var dialer = PeerHandshake(role: .dialer(expecting: them), local: us)
    var listener = PeerHandshake(role: .listener, local: LocalPeer(peerId: them, metadata: metadata))
    #expect(listener.receive(.opened(.sameUser)) == [])
    guard case .send(let join)? = dialer.receive(.opened(.sameUser)).first else {
      Issue.record("no join")
      return
    }
    let answer = listener.receive(.received(join))
    #expect(answer.last == .established(us.peerId, us.metadata))
    guard case .send(let peer)? = answer.first else {
      Issue.record("no answer")
      return
    }
    #expect(dialer.receive(.received(peer)) == [.established(them, metadata)])
    #expect(dialer.peer == them)
    #expect(listener.peer == us.peerId)
    #expect(dialer.receive(.received(.leave(senderId: them))) == [.close(nil)])
    #expect(dialer.receive(.received(join)) == [])
  }

  @Test func versionsAreListsOrBareTexts() {
    for versions in [["1"], ["2", "1"]] {
      var listener = opened(.listener)
      #expect(listener.receive(.received(.join(senderId: them, metadata: metadata, versions: versions))).count == 2)
    }
    for versions in [["2"], [], [""]] {
      var listener = opened(.listener)
      let effects = listener.receive(.received(.join(senderId: them, metadata: metadata, versions: versions)))
      #expect(effects.last == .close(.versionMismatch))
      #expect(effects.count == 2)
    }
    var dialer = opened(.dialer(expecting: nil))
    #expect(
      dialer.receive(.received(.peer(senderId: them, targetId: us.peerId, metadata: metadata, version: "2")))
        == [.close(.versionMismatch)])
  }

  @Test func aMessageOutOfTurnEndsTheLink() {
    let document = RepoMessage.leave(senderId: them)
    var listener = opened(.listener)
    #expect(listener.receive(.received(document)) == [.close(.unexpectedMessage)])
    #expect(listener.receive(.received(.join(senderId: them, metadata: metadata, versions: ["1"]))) == [])
    var dialer = opened(.dialer(expecting: nil))
    #expect(
      dialer.receive(.received(.join(senderId: them, metadata: metadata, versions: ["1"]))) == [
        .close(.unexpectedMessage)
      ])
    var late = opened(.listener)
    #expect(late.receive(.timedOut) == [.close(.timedOut)])
    var refused = opened(.dialer(expecting: nil))
    #expect(
      refused.receive(.received(.error(senderId: nil, targetId: nil, message: "no"))) == [.close(.refused("no"))])
  }

  @Test func wrongIdentitiesAreCutOff() {
    func listen(_ sender: String) -> [PeerHandshake.Effect] {
      var listener = opened(.listener)
      return listener.receive(.received(.join(senderId: PeerId(sender), metadata: metadata, versions: ["1"])))
    }
    #expect(listen("us") == [.close(.ownPeerId)])
    #expect(listen(String(repeating: "x", count: 257)) == [.close(.unusablePeerId)])
    func dial(_ expecting: PeerId?, _ sender: PeerId, target: PeerId?) -> [PeerHandshake.Effect] {
      var dialer = opened(.dialer(expecting: expecting))
      return dialer.receive(.received(.peer(senderId: sender, targetId: target, metadata: metadata, version: "1")))
    }
    #expect(dial(PeerId("other"), them, target: us.peerId) == [.close(.wrongPeer)])
    #expect(dial(nil, them, target: PeerId("other")) == [.close(.wrongPeer)])
    #expect(dial(nil, us.peerId, target: us.peerId) == [.close(.ownPeerId)])
    #expect(dial(nil, them, target: nil) == [.established(them, metadata)])
  }

  @Test func onlyTheirOwnMessagesForUsAreDelivered() throws {
    var handshake = opened(.listener)
    _ = handshake.receive(.received(.join(senderId: them, metadata: metadata, versions: ["1"])))
    let document = try #require(DocumentId(bytes: Array(1...16)))
    func sync(_ sender: PeerId, _ target: PeerId) -> RepoMessage {
      .document(.init(senderId: sender, targetId: target, documentId: document, content: .sync(Data([1]))))
    }
    func ephemeral(_ author: PeerId, _ target: PeerId) -> RepoMessage {
      .ephemeral(
        .init(senderId: author, targetId: target, documentId: document, count: 1, sessionId: "s", data: Data([1])))
    }
    let other = PeerId("other")
    for message in [
      sync(them, us.peerId), ephemeral(other, us.peerId),
      .document(.init(senderId: them, targetId: us.peerId, documentId: document, content: .unavailable)),
      .other(type: "ticket", fields: [:]), .other(type: "x", fields: ["senderId": "them", "targetId": "us"]),
    ] { #expect(handshake.receive(.received(message)) == [.deliver(message)]) }
    for message in [
      sync(other, us.peerId), sync(them, other), ephemeral(them, other), .leave(senderId: other),
      .document(.init(senderId: other, targetId: us.peerId, documentId: document, content: .unavailable)),
      .other(type: "x", fields: ["senderId": "other"]), .join(senderId: them, metadata: metadata, versions: ["1"]),
    ] { #expect(handshake.receive(.received(message)) == []) }
  }

  @Test func bothEndsKeepTheSameOfTwoConnections() {
    let (small, large) = (PeerId("a"), PeerId("b"))
    // Each called the other: at one end the new one is incoming where it is outgoing at the other.
    for new in [LinkDirection.incoming, .outgoing] {
      let old: LinkDirection = new == .incoming ? .outgoing : .incoming
      let atSmall = LinkDirection.newStays(local: small, peer: large, old: old, new: new)
      let atLarge = LinkDirection.newStays(local: large, peer: small, old: new, new: old)
      #expect(atSmall == atLarge)
      #expect(atSmall == (new == .outgoing))
      #expect(LinkDirection.newStays(local: small, peer: large, old: new, new: new))
    }
  }
}

struct ReconnectTests {
  @Test func pausesDoubleUpToTheLongest() {
    var reconnect = Reconnect()
    #expect(reconnect.receive(.wanted, jitter: 1) == [.dial])
    for milliseconds in [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000] {
      #expect(reconnect.receive(.failed, jitter: 1) == [.startTimer(.milliseconds(milliseconds))])
      #expect(reconnect.receive(.timerFired, jitter: 1) == [.dial])
    }
    #expect(reconnect.receive(.connected, jitter: 1) == [])
    #expect(reconnect.receive(.lost, jitter: 1, at: .seconds(1)) == [.startTimer(.milliseconds(100))])
  }

  @Test func aPeerThatEndsEveryConnectionAtOnceIsCalledEverMoreSeldom() {
    var reconnect = Reconnect(isServer: true)
    #expect(reconnect.receive(.wanted, jitter: 1) == [.dial])
    for milliseconds in [100, 200, 400, 800, 1000, 1000] {
      #expect(reconnect.receive(.connected, jitter: 1) == [])
      #expect(reconnect.receive(.lost, jitter: 1) == [.startTimer(.milliseconds(milliseconds))])
      #expect(reconnect.receive(.timerFired, jitter: 1) == [.dial])
    }
  }

  @Test func jitterHalvesAtMost() {
    for (jitter, milliseconds) in [(0.0, 50), (0.5, 75), (1, 100), (-3, 50), (7, 100)] {
      var reconnect = Reconnect()
      _ = reconnect.receive(.wanted, jitter: jitter)
      #expect(reconnect.receive(.failed, jitter: jitter) == [.startTimer(.milliseconds(milliseconds))])
    }
  }

  @Test func newsPlacesAnotherCallBesideTheOneUnderWay() {
    var reconnect = Reconnect()
    #expect(reconnect.receive(.wanted, jitter: 1) == [.dial])
    #expect(reconnect.receive(.failed, jitter: 1) == [.startTimer(.milliseconds(100))])
    #expect(reconnect.receive(.timerFired, jitter: 1) == [.dial])
    #expect(reconnect.receive(.found, jitter: 1) == [.dial])
    #expect(reconnect.receive(.found, jitter: 1) == [.dial])
    #expect(reconnect.receive(.found, jitter: 1) == [], "three at a time are enough")
    #expect(reconnect.receive(.failed, jitter: 1) == [], "two are still under way")
    #expect(reconnect.receive(.failed, jitter: 1) == [])
    #expect(reconnect.receive(.failed, jitter: 1) == [.startTimer(.milliseconds(100))], "news makes eager again")
    #expect(reconnect.receive(.found, jitter: 1) == [.cancelTimer, .dial])
    #expect(reconnect.receive(.connected, jitter: 1) == [])
    #expect(reconnect.receive(.failed, jitter: 1) == [], "a call that came too late")
  }

  @Test func aConnectionFromElsewhereEndsThePause() {
    var reconnect = Reconnect()
    _ = reconnect.receive(.wanted, jitter: 0)
    _ = reconnect.receive(.failed, jitter: 0)
    #expect(reconnect.receive(.connected, jitter: 0) == [.cancelTimer])
    #expect(reconnect.receive(.timerFired, jitter: 0) == [])
    #expect(reconnect.receive(.unwanted, jitter: 0) == [])
    #expect(reconnect.receive(.lost, jitter: 0) == [])
  }
}

extension Reconnect {
  /// Where it makes no difference when.
  fileprivate mutating func receive(_ event: Event, jitter: Double) -> [Effect] {
    receive(event, jitter: jitter, at: .zero)
  }
}

/// A peer on the same network is lost, and neither machine notices when the network is back.
struct EagerReconnectTests {
  /// When calls are placed, to a peer that was lost at 0 and answers nothing until `healed`; the last gets through.
  private func calls(until healed: Duration, isNear: Bool, seed: UInt64) -> [Duration] {
    var random = SeededGenerator(seed: seed)
    var reconnect = Reconnect(), now = Duration.zero, calls: [Duration] = []
    func jitter() -> Double { Double.random(in: 0...1, using: &random) }
    _ = reconnect.receive(.wanted, jitter: jitter(), at: now)
    _ = reconnect.receive(.connected, jitter: jitter(), at: now)
    var effects = reconnect.receive(.lost, jitter: jitter(), at: now)
    while calls.last.map({ $0 < healed }) ?? true, calls.count < 10_000 {
      switch effects.first {
      case .startTimer(let pause):
        now += pause
        effects = reconnect.receive(.timerFired, jitter: jitter(), at: now)
      case .dial:
        calls.append(now)
        now += isNear ? TCPProvider.nearbyTimeout : PeerHandshake.timeout
        effects = reconnect.receive(isNear ? .unanswered : .failed, jitter: jitter(), at: now)
      case .cancelTimer, nil: return calls
      }
    }
    return calls
  }

  @Test(arguments: 1...200) func aHealThatIsNotNoticedIsFoundInTime(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let healed = Duration.milliseconds(Int.random(in: 1000..<590_000, using: &random))
    let through = try #require(calls(until: healed, isNear: true, seed: seed).last)
    #expect(through >= healed && through - healed < .milliseconds(1750), "seed \(seed)")
  }

  @Test func afterTenMinutesAndElsewhereItTakesLonger() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let late = calls(until: .seconds(7200), isNear: true, seed: seed)
      let gaps = zip(late.dropFirst(), late).map { $0 - $1 }
      #expect(gaps.allSatisfy { $0 <= .seconds(31) } && gaps.last.map { $0 > .seconds(15) } == true, "seed \(seed)")
      #expect(late.count { $0 < .seconds(600) } < 700)
      // A peer far away, or one that refuses: as ever.
      #expect(calls(until: .seconds(600), isNear: false, seed: seed).count < 40, "seed \(seed)")
    }
  }

  @Test func aPeerThatWasNotLostIsNotCalledSoOften() {
    var reconnect = Reconnect()
    _ = reconnect.receive(.wanted, jitter: 1)
    for milliseconds in [100, 200, 400, 800, 1600] {
      #expect(reconnect.receive(.unanswered, jitter: 1) == [.startTimer(.milliseconds(milliseconds))])
      #expect(reconnect.receive(.timerFired, jitter: 1) == [.dial])
    }
  }
}

/// A server is lost, and is back after a while.
struct ServerReconnectTests {
  /// When a server that was lost at 0 is called, until `end`; each call is refused at once.
  private func calls(until end: Duration, seed: UInt64) -> [Duration] {
    var random = SeededGenerator(seed: seed)
    var reconnect = Reconnect(isServer: true), now = Duration.zero, calls: [Duration] = []
    func jitter() -> Double { Double.random(in: 0...1, using: &random) }
    _ = reconnect.receive(.wanted, jitter: jitter(), at: now)
    _ = reconnect.receive(.connected, jitter: jitter(), at: now)
    var effects = reconnect.receive(.lost, jitter: jitter(), at: now)
    while case .startTimer(let pause) = effects.first, now <= end {
      now += pause
      _ = reconnect.receive(.timerFired, jitter: jitter(), at: now)
      calls.append(now)
      effects = reconnect.receive(.failed, jitter: jitter(), at: now)
    }
    return calls
  }

  @Test(arguments: 1...50) func aServerThatIsBackIsCalledWithinASecondOrAThirtiethOfItsAbsence(seed: UInt64) {
    let calls = calls(until: .seconds(7200), seed: seed)
    for (call, next) in zip(calls, calls.dropFirst()) {
      #expect(next - call <= max(.seconds(1), min(.seconds(30), call / 30)), "seed \(seed), after \(call)")
    }
    #expect(calls.count { $0 < .seconds(60) } < 125)
    #expect(calls.count { $0 >= .seconds(3600) } < 245)
  }

  @Test func aServerThatWasNeverReachedIsCalledEverMoreSeldom() {
    var reconnect = Reconnect(isServer: true)
    _ = reconnect.receive(.wanted, jitter: 1)
    for milliseconds in [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000] {
      #expect(reconnect.receive(.failed, jitter: 1) == [.startTimer(.milliseconds(milliseconds))])
      #expect(reconnect.receive(.timerFired, jitter: 1) == [.dial])
    }
  }
}

struct KeepaliveTests {
  @Test func silenceIsAskedAboutThenTakenForDeath() {
    var keepalive = Keepalive(now: .seconds(100))
    #expect(keepalive.check(at: .seconds(114)) == nil)
    let pause1 = keepalive.nextCheck(at: .seconds(114))
    #expect(pause1 == .seconds(1))
    #expect(keepalive.check(at: .seconds(115)) == .ping)
    #expect(keepalive.check(at: .seconds(116)) == nil)
    let pause2 = keepalive.nextCheck(at: .seconds(116))
    #expect(pause2 == .seconds(14))
    keepalive.heard(at: .seconds(120))
    #expect(keepalive.check(at: .seconds(134)) == nil)
    let course = KeepaliveTests.course(of: &keepalive, from: 134) { _ in false }
    #expect(course == [135, 150, -165])
  }

  /// When it pings, in seconds, and, below zero, when it takes the other for dead; checks come when they are due.
  private static func course(of keepalive: inout Keepalive, from start: Int, isThere: (Int) -> Bool) -> [Int] {
    var (now, course) = (Duration.seconds(start), [Int]())
    while course.count < 100 {
      now += keepalive.nextCheck(at: now)
      let second = Int(now.components.seconds)
      switch keepalive.check(at: now, isThere: isThere(second)) {
      case .ping?: course.append(second)
      case .dead?: return course + [-second]
      case nil: break
      }
    }
    return course
  }

  @Test func aPeerWhoseMachineIsThereHasLongerToAnswer() {
    var busy = Keepalive(now: .zero)
    let course = KeepaliveTests.course(of: &busy, from: 0) { _ in true }
    #expect(course == Array(stride(from: 15, to: 180, by: 15)) + [-180])
    // The cable is pulled while it is busy.
    var gone = Keepalive(now: .zero)
    let last = KeepaliveTests.course(of: &gone, from: 0) { $0 < 80 }
    #expect(last == [15, 30, 45, 60, 75, -90])
  }

  @Test func aLateCheckListensBeforeItJudges() {
    var keepalive = Keepalive(now: .zero)
    let pause3 = keepalive.nextCheck(at: .zero)
    #expect(pause3 == .seconds(15))
    // A minute in which nothing ran here, and in which the other may have said a lot that is still unread.
    #expect(keepalive.check(at: .seconds(75)) == .ping)
    let pause4 = keepalive.nextCheck(at: .seconds(75))
    #expect(pause4 == .seconds(15))
    keepalive.heard(at: .seconds(75))
    let course = KeepaliveTests.course(of: &keepalive, from: 75) { _ in false }
    #expect(course == [90, 105, -120])
  }

  @Test func aProbedPeerHasFiveSeconds() {
    var keepalive = Keepalive(now: .zero)
    keepalive.probe(at: .seconds(3))
    let course = KeepaliveTests.course(of: &keepalive, from: 3) { _ in false }
    #expect(course == [-8])
    var alive = Keepalive(now: .zero)
    alive.probe(at: .seconds(3))
    alive.heard(at: .seconds(4))
    let longer = KeepaliveTests.course(of: &alive, from: 4) { _ in false }
    #expect(longer == [19, 34, -49])
  }

  @Test func sleepIsNoticedAndSmallCorrectionsAreNot() {
    var watch = WakeWatch()
    let looks: [(now: Int, date: Double)] = [
      (10, 1000), (15, 1005), (20, 30_000), (25, 30_006),
      // Set back; then busy, and awake.
      (30, 26_000), (630, 26_600),
    ]
    let slept = looks.map { watch.look(now: .seconds($0.now), secondsSince1970: $0.date) }
    #expect(slept == [false, false, true, false, false, false])
  }
}
