import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A peer that causes event after event gets few lines on the screen, and its last event is among them.
@AutomergeRepo @Suite(.serialized) struct LinesOnTheScreenTests {
  private typealias Limit = NewsLimit<JSONValue>

  private let ana: ServiceUnderTest
  private let uri = "file:///notes/Shopping.md"
  private let id: DocumentId
  private nonisolated static let eve = PeerId("eve")

  init() async throws {
    ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 31))), "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    ana.open(uri, "tea\n")
    try await ana.wait(for: "the buffer to be the note") { [ana, uri] in ana.binding(uri) != nil }
  }
}

extension LinesOnTheScreenTests {
  private func lines() -> [String] {
    ana.sent.compactMap { message in
      ["notes/event", "window/showMessage", "window/showMessageRequest"].contains(message["method"]?.stringValue)
        ? message["params"]?["message"]?.stringValue : nil
    }
  }

  private func happens(_ event: SharingEvent) {
    if case .accessChanged(_, _, _, let access) = event { ana.sharing.access = access }
    ana.sharing.onChange?(event)
  }

  /// Lets a minute pass, and returns the lines that are shown at its end.
  private func minute() async throws -> [String] {
    let before = lines().count, end = ana.world.clock.now + Limit.period
    try await ana.wait(for: "a minute", timesFaster: 1000) { [ana] in ana.world.clock.now >= end }
    return Array(lines()[before...])
  }

  private nonisolated static func id(_ number: Int) -> DocumentId {
    var random = RandomSource(SeededGenerator(seed: UInt64(number)))
    return DocumentId.random(using: &random)
  }

  private nonisolated static func invitation(_ number: Int) -> InvitationSummary {
    InvitationSummary(
      invitation: "\(number)", direction: .received, peer: eve, name: "Eve", document: id(number), title: "Pay me",
      access: .write, code: nil, awaitsConfirmation: false)
  }

  /// The name of the event's case; a new case is to be added to the floods below.
  private nonisolated static func name(of event: SharingEvent) -> String {
    switch event {
    case .online: "online"
    case .offline: "offline"
    case .joined: "joined"
    case .nearby: "nearby"
    case .gone: "gone"
    case .invited: "invited"
    case .withdrawn: "withdrawn"
    case .accepted: "accepted"
    case .declined: "declined"
    case .toBeConfirmed: "toBeConfirmed"
    case .accessChanged: "accessChanged"
    case .unshared: "unshared"
    case .gaveUp: "gaveUp"
    case .moved: "moved"
    case .offeredAgain: "offeredAgain"
    case .brokeOff: "brokeOff"
    case .closedToStrangers: "closedToStrangers"
    case .namesake: "namesake"
    case .peersChanged: "peersChanged"
    case .networkState: "networkState"
    }
  }

  /// Each event that a peer can cause, made from the number of its occurrence.
  private static nonisolated let floods: [@Sendable (Int) -> SharingEvent] = [
    { _ in .online(eve, name: "Eve") }, { _ in .offline(eve, name: "Eve") },
    { .joined(eve, name: "Eve", id($0)) }, { _ in .nearby(eve, name: "Eve") }, { _ in .gone(eve, name: "Eve") },
    { .invited(invitation($0)) }, { .withdrawn(invitation($0)) }, { .accepted(eve, name: "Eve", id($0)) },
    { .declined(eve, name: "Eve", id($0)) }, { .toBeConfirmed(invitation($0)) },
    { .accessChanged(eve, name: "Eve", id($0), $0 % 2 == 0 ? .read : .write) },
    { .unshared(eve, name: "Eve", id($0)) }, { .gaveUp(eve, name: "Eve", id($0)) },
    { number in
      let move = NoteMove(
        document: id(number), successor: id(number + 1), heads: [], host: eve, removedAuthors: [])
      return .moved(move, name: "Eve")
    },
    { .offeredAgain(eve, name: "Eve", id($0)) }, { _ in .brokeOff(eve, name: "Eve") }, { _ in .closedToStrangers },
    { _ in .namesake(eve, name: "Eve") }, { _ in .peersChanged }, { _ in .networkState },
  ]

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func everyEventThatAPeerCausesIsLimited() async throws {
    #expect(Set(Self.floods.map { Self.name(of: $0(0)) }).count == 20)
    for flood in Self.floods {
      let before = lines().count, name = Self.name(of: flood(0))
      for number in 0..<100 { happens(flood(number)) }
      #expect(lines().count - before <= Limit.maximumPerPeriod, "\(name)")
      #expect(try await minute().count <= Limit.maximumHeldTold, "\(name)")
      _ = try await minute()
    }
    // All of them at once.
    let before = lines().count
    for number in 0..<20 { for flood in Self.floods { happens(flood(number)) } }
    // `closedToStrangers` names no peer.
    #expect(lines().count - before <= 2 * Limit.maximumPerPeriod)
    #expect(try await minute().count <= 2 * Limit.maximumHeldTold)
  }

  @Test func aLineSaysWhatToDoAboutAnInvitationOrAKey() throws {
    let answered = "Eve accepted. :NotesAnswer to compare codes"
    let borrowed = "WARNING: another key calls itself Eve. :NotesVerify"
    for (event, level, line) in [
      (SharingEvent.invited(Self.invitation(1)), "urgent", "Eve invites you to \"Pay me\". :NotesAnswer to reply"),
      (.toBeConfirmed(Self.invitation(1)), "urgent", answered),
      (.namesake(Self.eve, name: "Eve"), "urgent", borrowed),
      (.declined(Self.eve, name: "Eve", id), "urgent", "Eve declined \"Shopping\""),
      (.accepted(Self.eve, name: "Eve", id), "news", "Eve now shares \"Shopping\" with you"),
    ] {
      happens(event)
      let params = try #require(ana.sent.last { $0["method"] == "notes/event" }?["params"])
      #expect(params["level"]?.stringValue == level && params["line"]?.stringValue == line)
    }
  }

  @Test func whatAHostAllowedLastIsToldHoweverOftenItChangedItsMind() async throws {
    for number in 0..<101 {
      happens(.accessChanged(Self.eve, name: "Eve", id, number % 2 == 0 ? .read : .write))
      // The buffer changes at once; only the line waits.
      let access = ana.events("access").last
      #expect(access?["access"]?.stringValue == (number % 2 == 0 ? "read" : "write"))
      #expect((access?["message"] != nil) == (number < Limit.maximumPerPeriod))
    }
    #expect(try await minute() == ["Eve made \"Shopping\" read-only for you (89 changes)"])
    // Another host's line is not held, nor this host's after a quiet time.
    _ = try await minute()
    happens(.accessChanged(Self.eve, name: "Eve", id, .write))
    #expect(lines().last == "Eve lets you edit \"Shopping\"")
  }

  /// The person can answer an invitation whose line is held, and the line appears while it is open.
  @Test func anInvitationOverTheLimitIsToldAMinuteLater() async throws {
    for number in 0..<50 { happens(.accessChanged(Self.eve, name: "Eve", id, number % 2 == 0 ? .read : .write)) }
    ana.sharing.invitations = [Self.invitation(1)]
    happens(.invited(Self.invitation(1)))
    happens(.invited(Self.invitation(2)))
    #expect(ana.events("invited").allSatisfy { $0["message"] == nil })
    _ = try await minute()
    #expect(ana.events("invited").filter { $0["message"] != nil }.map { $0["invitation"] } == ["1"])
  }

  /// The service does not tell the authors of an agenda apart; together they get as many lines as one person.
  @Test func anAgendaThatChangesEverySecondFillsNoScreen() async throws {
    let made = try await ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let meeting = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let item = try await ana.request("notes/addItem", ["id": .string(meeting.description), "title": "Tea"])
    let itemURI = try #require(item["uri"]?.stringValue)
    ana.open(itemURI, "")
    try await ana.wait(for: "the item's buffer") { [ana] in
      ana.binding(itemURI) != nil && ana.service.notebook[meeting]?.agenda.count == 1
    }
    let handle = try await ana.handle(of: meeting)
    let before = ana.events("agenda").count
    for number in 0..<30 {
      let peer = handle.document.fork()
      try #require(MeetingDocument(peer)).insert(.init(id: "\(number)", title: "Item \(number)", discussion: ""), at: 0)
      try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
      ana.service.fileSync.changedOutside(handle)
      try await ana.wait(for: "the news", timesFaster: 200) { [ana] in ana.events("agenda").count - before > number }
    }
    let told = ana.events("agenda")[before...].compactMap { $0["message"]?.stringValue }
    #expect(told.count == Limit.maximumPerPeriod)
    #expect(try await minute().contains { $0.contains("\"Item 29\"") && $0.hasSuffix("(18 changes)") })
  }

  /// A peer replaces an open text again and again, and each text is kept. All are stored, and the news counts all of
  /// them.
  @Test func textsKeptOneAfterTheOtherAreToldTogether() async throws {
    func told() -> [String] { ana.events("recovered").compactMap { $0["copy"]?.stringValue } }
    for number in 1...Limit.maximumPerPeriod + 3 {
      ana.service.recoveredTexts.keepSoon(
        NoteKey(id), "a peer replaced it while it was open", Array("\(number)\n".utf8))
      if number > Limit.maximumPerPeriod {
        let end = ana.world.clock.now + .seconds(1)
        try await ana.wait(for: "a second", timesFaster: 20) { [ana] in ana.world.clock.now >= end }
      } else {
        try await ana.wait(for: "the news") { told().count == number }
      }
    }
    #expect(told().count == Limit.maximumPerPeriod)
    try await ana.wait(for: "the last", timesFaster: 200) { told().count > Limit.maximumPerPeriod }
    #expect(told().last == "copies of 3 texts")
    #expect(try await ana.recoveredTexts().count == Limit.maximumPerPeriod + 3)
  }

  /// The control: the person's own actions have their answers, whatever a peer did before.
  @Test func theFateOfOnesOwnWordsIsAlwaysTold() async throws {
    for number in 0..<51 { happens(.accessChanged(Self.eve, name: "Eve", id, number % 2 == 0 ? .read : .write)) }
    let before = lines().count
    ana.change(uri, "tea\nmilk\n", version: 2)
    try await ana.wait(for: "the refusal") { [ana] in !ana.events("refused").isEmpty }
    #expect(lines()[before...].count == 1)
    _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(lines().last?.hasPrefix("Deleted \"Shopping\"") ?? false)
  }

  /// The control: ordinary news is shown at once.
  @Test func whatAFriendDoesIsToldAtOnce() throws {
    let ben = PeerId("ben")
    happens(.joined(ben, name: "Ben", id))
    for access in [Access.read, .write] { happens(.accessChanged(ben, name: "Ben", id, access)) }
    happens(.unshared(ben, name: "Ben", id))
    #expect(lines().count == 4 && lines().last == "Ben stopped sharing \"Shopping\"; your copy stays")
  }
}
