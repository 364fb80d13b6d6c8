import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The lines that the service writes for all editors, so that they show the same: events, the people of a note,
/// tickets, invitations.
struct LinesForEditorsTests {
  // MARK: Events

  private static func shown(_ event: JSONValue) -> [String?] {
    let event = EventLine.completed(event)
    return [event["level"]?.stringValue, event["line"]?.stringValue]
  }

  private static func shown(_ news: NoteNews, of title: String) -> [String?] {
    shown(news.parameters(uri: nil, id: nil, title: title, peer: nil, name: nil))
  }

  @Test func aLineSaysWhatToDoAboutAnEvent() {
    #expect(EventLine.text("Ben accepted.", then: ":NotesAnswer") == "Ben accepted. :NotesAnswer")
    #expect(EventLine.text("Ben wrote 3 words", then: ":NotesDiff") == "Ben wrote 3 words. :NotesDiff")
    #expect(
      Self.shown(.detached(.deletedForEveryone), of: "Tea")
        == ["urgent", "Deleted for everyone: \"Tea\"; :NotesUndelete restores it"])
    #expect(Self.shown(.detached(.deleted), of: "Tea") == ["urgent", "Deleted \"Tea\"; :NotesUndelete restores it"])
    #expect(Self.shown(["kind": "created", "id": "x"]) == [nil, nil])
    #expect(Self.shown(["kind": "online", "message": "", "line": "", "level": "urgent"]) == [nil, nil])
  }

  /// A peer chooses its own name, and the titles of its notes.
  @Test func theWordsOfOthersDecideNothing() async throws {
    #expect(Self.shown(["kind": "online", "message": "WARNING is online"]) == ["news", "WARNING is online"])
    #expect(
      Self.shown(.renamed(from: "Tea", by: .oneself), of: "undelete restores")
        == ["news", "Renamed to \"undelete restores\""])
    #expect(Self.shown(.gaveUp(guest: "WARNING"), of: "Tea") == ["news", "WARNING no longer shares \"Tea\""])
    #expect(
      Self.shown(.notStored(isFull: true), of: "Tea") == [
        "urgent", "WARNING: words of \"Tea\" are not stored: disk full",
      ]
    )
    #expect(Self.shown(StoreNews.damaged.event).first == "urgent")
  }

  @Test func whereTheWordsAreIsSaidBeforeEverythingElse() {
    #expect(
      Self.shown(.refused(recovered: "/x.md"), of: "Tea")
        == ["words", ":NotesRecovered has your words; this note is read-only"])
  }

  // MARK: Carets

  /// An editor asks for carets again if it received them before the service knew of its last change.
  @Test @AutomergeRepo func caretsAreSentAgainWhenAnEditorAsksForThem() async throws {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 5))), "ana")
    try await ana.start()
    _ = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let uri = "file:///notes/Shopping.md"
    ana.open(uri, "tea\n")
    try await ana.wait(for: "the buffer to be the note") { ana.binding(uri) != nil }
    ana.change(uri, "tea\nmilk\n", version: 2)
    func lists() -> [JSONValue] { ana.sent.filter { $0["method"] == "notes/cursors" } }
    let before = lists().count
    ana.send("notes/ack", ["uri": .string(uri), "version": 2, "rev": 0])
    ana.send("notes/ack", ["uri": .string(uri), "version": 1, "rev": 0, "carets": true])
    ana.send("notes/ack", ["uri": .string(uri), "version": 2, "rev": 0, "carets": true])
    try await ana.wait(for: "the carets") { lists().count > before }
    #expect(lists().count == before + 1)
    #expect(lists().last?["params"]?["version"] == 2)
  }

  // MARK: Company

  private static func person(
    _ name: String, _ state: PersonStatus.State, pending: Int = 0, received: Int? = nil, problem: String? = nil
  ) -> PersonStatus {
    let person = PersonSummary(
      peer: PeerId(name), name: name, access: .write, isConnected: state != .unreachable, problem: problem)
    return PersonStatus(person: person, state: state, pending: pending, percentReceived: received, forges: false)
  }

  /// The status line of an editor without carets, for the text that the status describes, or a later one.
  private static func words(_ people: [PersonStatus], isLater: Bool = false) -> String {
    (Company(people).json.arrayValue ?? [])
      .map { (isLater ? $0["whenLater"]?.stringValue : nil) ?? $0["text"]?.stringValue ?? "" }.joined()
  }

  @Test func theCompanySaysHowFarTheOthersAreTheMostUrgentFirst() {
    let ana = Self.person("Ana", .inSync)
    #expect(Self.words([]) == "")
    #expect(Self.words([ana]) == "synced with Ana")
    #expect(Self.words([ana], isLater: true) == "sending to Ana")
    #expect(
      Self.words([ana, Self.person("Bo", .behind, pending: 3)]) == "3 changes not yet sent to Bo; synced with Ana")
    #expect(Self.words([Self.person("Bo", .behind, pending: 1)]) == "1 change not yet sent to Bo")
    #expect(Self.words([ana, Self.person("Bo", .unreachable)]) == "Bo unreachable; synced with Ana")
    #expect(Self.words([Self.person("Bo", .refused)]) == "refused by Bo")
    #expect(Self.words([Self.person("Cy", .behind, received: 34)]) == "receiving from Cy (34%)")
    #expect(
      Self.words([Self.person("Cy", .behind, pending: 2, received: 34), Self.person("Bo", .behind, pending: 1)])
        == "receiving from Cy (34%); 2 changes not yet sent to Bo, Cy")
    #expect(Self.words((0..<5).map { Self.person("P\($0)", .inSync) }) == "synced with 5 people")
    #expect(Self.words([ana, ana]) == "synced with Ana")
    #expect(Self.words([Self.person("Theodora Longname", .inSync)]) == "synced with Theodora Longna…")
    #expect(
      Self.words([ana, Self.person("Bo", .refused)], isLater: true) == "refused by Bo; sending to Ana",
      "only a statement about the exact text has another wording")
    #expect(Self.words([Self.person("A\u{202E}na\n", .inSync)]) == "synced with Ana ")
  }

  @Test func theStatusLineSaysWhyANoteIsNotStoredFirst() {
    func words(unstored: String?, isReadOnly: Bool = false, network: String = "on") -> String {
      let company = Company(
        [Self.person("Ana", .inSync)], unstored: unstored, isReadOnly: isReadOnly, network: network)
      return (company.json.arrayValue ?? []).compactMap { $0["text"]?.stringValue }.joined()
    }
    #expect(words(unstored: "the disk is full") == "not stored: the disk is full; synced with Ana")
    #expect(words(unstored: "", isReadOnly: true) == "not stored; read-only; synced with Ana")
    var server = Self.person("wss", .inSync)
    server.limit = .readOnly
    #expect(Self.words([server]) == "synced with wss (read-only)", "what is typed does not reach it")
    server = Self.person("wss", .unreachable, problem: "the server wants a token")
    #expect(Self.words([server]) == "wss wants a token")
    #expect(Self.words([Self.person("wss", .unreachable, problem: "connection refused")]) == "wss unreachable")
    #expect(words(unstored: nil, network: "off") == "synced with Ana; no network")
    #expect(words(unstored: nil, network: "the port is taken") == "synced with Ana; no network: the port is taken")
  }

  /// A member without a value is left out: an editor checks whether a member is there.
  @Test func whatIsNotSaidIsNotThere() {
    #expect(
      Company([Self.person("Ana", .inSync)]).json
        == [["text": "synced with ", "whenLater": "sending to "], ["text": "Ana", "name": "Ana"]])
    #expect(
      Company((0..<4).map { Self.person("P\($0)", .unreachable) }).json
        == [["text": "4 people"], ["text": " unreachable"]])
    let question = InvitationQuestion(Self.invitation(.received, title: "Tea", code: nil)).json
    #expect(
      question["choices"] == [
        [
          "label": "accept", "accept": true, "waiting": "Waiting for Ben",
          "still": "No answer yet; the note opens when Ben confirms",
        ], ["label": "decline", "accept": false, "message": "Declined"],
        ["label": "block Ben", "accept": false, "block": true, "message": "Blocked Ben"],
      ])
  }

  // MARK: Tickets

  @Test func aTicketIsBrokenBetweenWords() {
    let words = (0..<25).map { "word\($0)" }.joined(separator: " ")
    let lines = TicketScreen.wrapped(words, to: 30)
    #expect(lines.joined(separator: " ") == words && lines.allSatisfy { $0.count <= 30 })
    #expect(TicketScreen.wrapped("abcde", to: 3) == ["abc", "de"])
    #expect(TicketScreen.wrapped("ab", to: 0) == ["a", "b"])
  }

  @Test func aTicketSaysWhatItLetsOthersDo() {
    let ticket = SharedTicket(text: "notes:abc", words: "one two", expires: 1_700_000_000_000)
    let time = ScreenTime(now: Date(timeIntervalSince1970: 1_700_000_100)) { time in
      var time = time, parts = tm()
      gmtime_r(&time, &parts)
      return parts
    }
    #expect(
      TicketScreen(ticket, .read, uses: 3, width: 40, time).lines == [
        "Anyone with this ticket can read this note (3 uses)", "", "notes:abc", "", "Or read aloud:", "one two", "",
        "You must both be online, and in reach of each other, by 22:13.",
        "Copied. :NotesTicket closes this, and shows it again",
      ])
    #expect(
      TicketScreen(ticket, .write, uses: 1, meeting: "Weekly", width: 90, time).lines.first
        == "Anyone with this ticket can edit all of the meeting \"Weekly\" (one use)")
  }

  @Test func aTicketsOptionsAreReadAsTheyAreTyped() throws {
    let options = try ShareOptions(" read  uses=3 days=7")
    #expect(options.access == .read && options.uses == 3 && options.expiresIn == .seconds(7 * 86400))
    #expect(try ShareOptions("hours=2").expiresIn == .seconds(7200))
    #expect(try ShareOptions("").access == nil)
    for wrong in ["uses=0", "uses=-1", "uses=99999999999999999999", "days=1=2"] {
      let problem = #expect(throws: NotesError.self) { try ShareOptions(wrong) }
      #expect(problem?.message.hasSuffix("\" needs a number from 1 to 1000000") == true)
    }
    for wrong in ["reed", "uses", "uses="] {
      let problem = #expect(throws: NotesError.self) { try ShareOptions(wrong) }
      #expect(problem?.message.hasSuffix("is not an option; use read uses=3 days=7") == true)
    }
  }

  // MARK: Invitations

  private static func invitation(
    _ direction: InvitationSummary.Direction, title: String?, access: Access = .write, code: String? = "123456"
  ) -> InvitationSummary {
    InvitationSummary(
      invitation: "i", direction: direction, peer: PeerId("ben"), name: "Ben", document: DocumentId(), title: title,
      access: access, code: code, awaitsConfirmation: direction == .sent)
  }

  private static func labels(_ question: JSONValue) -> [String] {
    (question["choices"]?.arrayValue ?? []).compactMap { $0["label"]?.stringValue }
  }

  @Test func theDigitsStandBeforeWhatOthersWrite() {
    let received = InvitationQuestion(Self.invitation(.received, title: "1\u{202E}\n23", access: .read)).json
    #expect(received["line"] == "123 456  Ben invites you to \"1 23\" (read-only)")
    #expect(received["title"] == "Ben invites you to \"1 23\" (read-only)")
    #expect(Self.labels(received) == ["123 456 on both screens: accept", "decline", "block Ben"])
    #expect(received["choices"]?[0]?["waiting"] == "Waiting for Ben to confirm 123 456")
    #expect(received["choices"]?[0]?["still"] == "No answer yet; the note opens when Ben confirms 123 456")
    let known = InvitationQuestion(Self.invitation(.received, title: nil, code: nil)).json
    #expect(known["line"] == "Ben invites you to \"a note\"" && Self.labels(known).first == "accept")
    let sent = InvitationQuestion(Self.invitation(.sent, title: "Tea")).json
    #expect(sent["line"] == "123 456  Ben accepted \"Tea\"")
    #expect(Self.labels(sent) == ["123 456 on both screens: share", "another code, or none: cancel"])
    #expect(InvitationQuestion.noneIsOpen(nil) == "No invitations")
    #expect(
      InvitationQuestion.noneIsOpen(Self.invitation(.sent, title: "Tea")) == "Code 123 456: Ben has not accepted yet")
  }

  @Test func anotherKeyUnderAKnownNameIsAWarning() {
    var stranger = Self.invitation(.received, title: "Tea")
    stranger.isNameShared = true
    #expect(InvitationQuestion(stranger).json["line"] == "123 456  WARNING: Ben is not who you met")
  }
}
