import TestSupport
import Testing

@testable import NotesServer

struct PresenceTests {
  private let here = [CursorRange(start: [1], end: [2])]

  private func state(_ name: String, _ cursor: UInt8 = 1) -> PresenceState {
    PresenceState(name: name, ranges: [CursorRange(start: [cursor], end: [cursor])])
  }

  private func opened() -> Presence {
    var presence = Presence(name: "Ana")
    _ = presence.receive(.opened(document: "d"), at: .zero)
    return presence
  }

  @Test func openingShowsOneself() {
    var presence = Presence(name: "Ana")
    #expect(
      presence.receive(.opened(document: "d"), at: .zero)
        == [.broadcast(document: "d", .snapshot(PresenceState(name: "Ana", ranges: [])))])
    #expect(presence.receive(.opened(document: "d"), at: .zero) == [])
  }

  @Test func aWishForAColourIsSentAndGrantedToTheFirstWhoHasIt() {
    var presence = opened()
    #expect(
      presence.receive(.colored(7), at: .seconds(1)) == [
        .broadcast(document: "d", .update(PresenceState(name: "Ana", color: 7, ranges: [])))
      ])
    for (peer, color) in [("ben", 3), ("eva", 3), ("foe", -1), ("fob", 99)] {
      var wish = state(peer)
      wish.color = color
      _ = presence.receive(.received(document: "d", peer: peer, .update(wish)), at: .seconds(2))
    }
    let colors = presence.people(in: "d").map(\.mark.color)
    #expect(colors.first == 3)
    #expect(Set(colors).count == 4)
    #expect(colors.allSatisfy { 0..<12 ~= $0 })
  }

  @Test func aPersonWhoPointsIsShownAtMostOnceASecond() {
    var presence = opened()
    let place = CursorRange(start: [1], end: [2])
    #expect(
      presence.receive(.point(document: "d", place, text: "here"), at: .zero)
        .contains(.broadcast(document: "d", .point(place, text: "here"))))
    func points(_ peer: String, at now: Duration, _ range: CursorRange, _ text: String) -> [Presence.Effect] {
      presence.receive(.received(document: "d", peer: peer, .point(range, text: text)), at: now).filter {
        if case .pointed = $0 { true } else { false }
      }
    }
    #expect(points("ben", at: .zero, place, "") == [], "a stranger")
    _ = presence.receive(.received(document: "d", peer: "ben", .update(state("Ben"))), at: .zero)
    #expect(points("ben", at: .seconds(1), place, "a\u{1B}b").count == 1)
    #expect(points("ben", at: .milliseconds(1500), place, "").isEmpty)
    #expect(points("ben", at: .seconds(3), place, "").count == 1)
    let huge = CursorRange(start: [UInt8](repeating: 0, count: 1000), end: [1])
    #expect(points("ben", at: .seconds(9), huge, "").isEmpty)
    _ = presence.receive(.closed(document: "d"), at: .seconds(10))
    #expect(points("ben", at: .seconds(20), place, "").isEmpty, "not open here")
  }

  /// A server relays what Ben says under another id, since he cannot prove his own there.
  @Test(arguments: [false, true])
  func aPersonWhoIsThereDirectlyAndThroughAServerIsShownOnce(isServerFirst: Bool) {
    var presence = opened()
    func isNews(_ effect: Presence.Effect) -> Bool {
      switch effect {
      case .joined, .left: true
      default: false
      }
    }
    func receive(_ peer: String, _ payload: PresencePayload, at now: Duration) -> [Presence.Effect] {
      let isRelayed = peer == "ben/ws"
      return presence.receive(
        .received(document: "d", peer: peer, payload, isRelayed: isRelayed), at: now)
    }
    let order = isServerFirst ? ["ben/ws", "ben"] : ["ben", "ben/ws"]
    #expect(receive(order[0], .snapshot(state("Ben")), at: .seconds(1)).count(where: isNews) == 1)
    #expect(receive(order[1], .snapshot(state("Ben")), at: .seconds(2)).count(where: isNews) == 0)
    #expect(presence.people(in: "d").map(\.peer) == ["ben"])
    #expect(presence.ranges(in: "d").count == 1)
    let point = PresencePayload.point(CursorRange(start: [1], end: [2]), text: "here")
    let points = ["ben", "ben/ws"].map { peer in
      receive(peer, point, at: .seconds(3)).count { if case .pointed = $0 { true } else { false } }
    }
    #expect(points == [1, 0])
    // The direct link ends, and Ben is still there.
    #expect(presence.receive(.disconnected(peer: "ben"), at: .seconds(4)).count(where: isNews) == 0)
    #expect(presence.people(in: "d").map(\.peer) == ["ben/ws"])
    #expect(receive("ben", .snapshot(state("Ben")), at: .seconds(5)).count(where: isNews) == 0)
    #expect(receive("ben/ws", .goodbye, at: .seconds(6)).count(where: isNews) == 0)
    #expect(receive("ben", .goodbye, at: .seconds(7)).count(where: isNews) == 1)
    #expect(presence.people(in: "d") == [])
  }

  /// A peer pretends to be many processes, each "in the note", and moves from one to the next.
  @Test func aPersonIsInANoteOnlySoManyTimesAndLeavesRoomForOthers() {
    var presence = opened()
    for process in 0..<1000 {
      _ = presence.receive(
        .received(document: "d", peer: "mal/\(process)", .snapshot(state("Mal"))), at: .milliseconds(process))
    }
    #expect(presence.people(in: "d").count == Presence.maximumProcesses)
    #expect(presence.people(in: "d").contains { $0.peer == "mal/999" }, "the newest one is there")
    #expect(Set(presence.people(in: "d").map(\.mark)).count == 1, "one person has one colour and letter")
    // The control: other people arrive, with several processes each, and have marks of their own.
    for peer in ["ben", "ben/1", "ben/2", "eva"] {
      _ = presence.receive(.received(document: "d", peer: peer, .snapshot(state(peer))), at: .seconds(1))
    }
    let others = presence.people(in: "d").filter { !$0.peer.hasPrefix("mal") }
    #expect(others.map(\.peer) == ["ben", "ben/1", "ben/2", "eva"])
    #expect(Set(others.map(\.mark.letter)) == ["B", "E"])
  }

  @Test func pointingIsLimitedForAPersonWhateverItsProcessesDoAndHoweverItComesAndGoes() {
    var presence = opened()
    var shown = 0
    func point(_ peer: String, isRelayed: Bool = false, at now: Duration) -> Bool {
      let place = CursorRange(start: [1], end: [2])
      _ = presence.receive(.received(document: "d", peer: peer, .update(state("M")), isRelayed: isRelayed), at: now)
      let effects = presence.receive(
        .received(document: "d", peer: peer, .point(place, text: "!"), isRelayed: isRelayed), at: now)
      _ = presence.receive(.received(document: "d", peer: peer, .goodbye, isRelayed: isRelayed), at: now)
      return effects.contains { if case .pointed = $0 { true } else { false } }
    }
    for number in 0..<6000 where point("mal/\(number % 300)", at: .milliseconds(number * 10)) { shown += 1 }
    #expect(shown == PointLimit.maximumPerPeriod)
    // The control: another person's pointing is shown meanwhile, and again a second later.
    #expect(point("ben", at: .seconds(60)) && point("ben/1", at: .seconds(61)))
    // All messages that a relay passes on under invented names share one limit. Peers that are connected have limits of
    // their own.
    let relayed = (0..<2000).count {
      point("invented\($0)", isRelayed: true, at: .seconds(70) + .milliseconds($0 * 10))
    }
    #expect(relayed == PointLimit.maximumPerPeriod)
    #expect(point("ben", at: .seconds(95)))
  }

  @Test func cursorsGoOutAtMostTwentyTimesASecond() {
    var presence = opened()
    var sent: [Duration] = []
    for millisecond in 0..<1000 {
      let now = Duration.milliseconds(millisecond)
      let ranges = [CursorRange(start: [UInt8(millisecond % 251)], end: [0])]
      for effect in presence.receive(.moved(document: "d", ranges: ranges), at: now) {
        if case .broadcast(_, .update) = effect { sent.append(now) }
      }
    }
    // Opening was the first.
    #expect(sent.count == 19)
    // The last one is not lost.
    #expect(presence.nextDeadline == .seconds(1))
    #expect(presence.tick(at: .seconds(1)).count == 1)
    #expect(
      presence.receive(
        .moved(document: "d", ranges: [CursorRange(start: [UInt8(999 % 251)], end: [0])]), at: .seconds(2)) == [])
  }

  @Test func silenceIsFilledWithHeartbeats() {
    var presence = opened()
    #expect(presence.nextDeadline == .seconds(15))
    #expect(presence.tick(at: .seconds(14)) == [])
    #expect(presence.tick(at: .seconds(15)) == [.broadcast(document: "d", .heartbeat)])
    #expect(presence.nextDeadline == .seconds(30))
  }

  @Test func aStrangerIsShownAndAnswered() {
    var presence = opened()
    let effects = presence.receive(
      .received(document: "d", peer: "p", .snapshot(state("Ben"))), at: .seconds(1))
    guard let ben = presence.people(in: "d").first else {
      Issue.record("no people")
      return
    }
    #expect(ben.name == "Ben" && ben.mark.letter == "B" && (0..<12).contains(ben.mark.color))
    #expect(
      effects == [
        .joined(document: "d", ben), .broadcast(document: "d", .snapshot(PresenceState(name: "Ana", ranges: []))),
        .cursorsChanged(document: "d"),
      ])
    // A known peer gets no answer, or two peers would answer each other for ever.
    #expect(presence.receive(.received(document: "d", peer: "p", .snapshot(state("Ben"))), at: .seconds(2)) == [])
  }

  @Test func theSilentAndTheGoneVanish() {
    for event in [
      Presence.Event.received(document: "d", peer: "p", .goodbye), .disconnected(peer: "p"),
      .received(document: "d", peer: "q", .heartbeat),
    ] {
      var presence = Presence(name: "Ana")
      _ = presence.receive(.received(document: "d", peer: "p", .update(state("Ben"))), at: .zero)
      _ = presence.receive(.received(document: "d", peer: "p", .heartbeat), at: .seconds(30))
      #expect(presence.tick(at: .seconds(74)) == [])
      var effects = presence.receive(event, at: .seconds(74))
      if effects.isEmpty { effects = presence.tick(at: .seconds(75)) }
      #expect(effects.count == 2 && effects.last == .cursorsChanged(document: "d"))
      #expect(presence.people(in: "d").isEmpty)
      #expect(presence.nextDeadline == nil)
    }
  }

  /// One process of Ben's keeps the network, and speaks for his others. When it ends, another takes its place under Ben's own id.
  @Test func withALinkAllCaretsVanishThatItBrought() {
    var presence = Presence(name: "Ana")
    for (peer, isRelayed) in [("ben", false), ("ben/2", false), ("cleo", true), ("cleo/2", true), ("benny", false)] {
      let name = peer.hasPrefix("cleo") ? "Cleo" : peer == "benny" ? "Benny" : "Ben"
      _ = presence.receive(
        .received(document: "d", peer: peer, .update(state(name)), isRelayed: isRelayed), at: .zero)
    }
    let effects = presence.receive(.disconnected(peer: "ben"), at: .seconds(1))
    #expect(presence.people(in: "d").map(\.peer) == ["benny", "cleo", "cleo/2"])
    let left = effects.compactMap { if case .left(_, let person) = $0 { person.name } else { nil } }
    #expect(left == ["Ben"] && effects.last == .cursorsChanged(document: "d"))
    _ = presence.receive(.received(document: "d", peer: "ben", .snapshot(state("Ben"))), at: .seconds(2))
    #expect(presence.people(in: "d").count { $0.name == "Ben" } == 1)
    // Of processes of our own, one ends alone.
    for peer in ["ana/2", "ana/3"] {
      _ = presence.receive(.received(document: "d", peer: peer, .update(state("Ana"))), at: .seconds(2))
    }
    _ = presence.receive(.disconnected(peer: "ana/2"), at: .seconds(3))
    #expect(presence.people(in: "d").map(\.peer).filter { $0.hasPrefix("ana") } == ["ana/3"])
  }

  @Test func theListOfCursorsIsCoalescedToo() {
    var presence = opened()
    var shown = 0
    for millisecond in 0..<1000 {
      let update = PresencePayload.update(state("Ben", UInt8(millisecond % 251)))
      let effects = presence.receive(
        .received(document: "d", peer: "p", update), at: .milliseconds(millisecond))
      shown += effects.count { $0 == .cursorsChanged(document: "d") }
    }
    #expect(shown == 20)
    #expect(presence.nextDeadline == .milliseconds(1000))
  }

  @Test func aChangeOfTheTextBringsTheCaretsAnewThoughNoneMoved() {
    var presence = opened()
    #expect(presence.receive(.textChanged(document: "d"), at: .seconds(1)) == [])
    _ = presence.receive(.received(document: "d", peer: "p", .update(state("Ben"))), at: .seconds(2))
    #expect(presence.receive(.textChanged(document: "d"), at: .seconds(3)) == [.cursorsChanged(document: "d")])
    // Typing sends them at most twenty times a second, and once more after the last letter.
    #expect(presence.receive(.textChanged(document: "d"), at: .milliseconds(3010)) == [])
    #expect(presence.receive(.textChanged(document: "d"), at: .milliseconds(3020)) == [])
    #expect(presence.nextDeadline == .milliseconds(3050))
    #expect(presence.tick(at: .milliseconds(3050)) == [.cursorsChanged(document: "d")])
    #expect(presence.receive(.textChanged(document: "elsewhere"), at: .seconds(4)) == [])
  }

  @Test func ofAPeerThatSharesNoLongerTheCaretsGoWithoutAWord() {
    var presence = Presence(name: "Ana")
    _ = presence.receive(.received(document: "d", peer: "p", .update(state("Ben"))), at: .zero)
    #expect(
      presence.receive(.unshared(document: "d", peer: "p"), at: .seconds(1)) == [.cursorsChanged(document: "d")])
    #expect(presence.people(in: "d") == [])
    #expect(presence.receive(.unshared(document: "d", peer: "p"), at: .seconds(2)) == [])
  }

  @Test func closingSaysGoodbye() {
    var presence = opened()
    #expect(presence.receive(.closed(document: "d"), at: .seconds(1)) == [.broadcast(document: "d", .goodbye)])
    #expect(presence.receive(.moved(document: "d", ranges: here), at: .seconds(2)) == [])
    #expect(presence.nextDeadline == nil)
  }

  @Test func whatHostilePeersSendIsBounded() {
    var presence = opened()
    for peer in 0..<1000 {
      let ranges = [CursorRange](repeating: CursorRange(start: [1], end: [1]), count: 100)
      let name = String(repeating: "\u{1B}x\n", count: 1000)
      _ = presence.receive(
        .received(document: "d", peer: "p\(peer)", .update(PresenceState(name: name, ranges: ranges))), at: .zero)
    }
    let people = presence.people(in: "d")
    #expect(people.count == Presence.maximumPeople)
    #expect(people.allSatisfy { $0.ranges.count == Presence.maximumRanges && $0.name.allSatisfy { $0 == "x" } })
  }

  @Test(arguments: UInt64(0)..<50) func twelvePeopleHaveTwelveColorsAndLetters(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var palette = Palette()
    let people = (0..<12).map { _ in "\(UInt64.random(in: .min ... .max, using: &generator))" }
    let marks = people.map { palette.mark(of: $0, name: "Same Name") }
    #expect(Set(marks.map(\.color)).count == 12, "seed \(seed)")
    #expect(Set(marks.map(\.letter)).count == 12, "seed \(seed)")
    #expect(people.map { palette.mark(of: $0, name: "Other") } == marks, "seed \(seed)")
  }
}
