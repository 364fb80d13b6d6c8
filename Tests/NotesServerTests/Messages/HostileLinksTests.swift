import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Titles, names and texts by which other people try to act through LSP's own requests in editors without a plugin.
@AutomergeRepo struct HostileLinksTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 14)))
  private let uri = "file:///notes/Trip.md"
  /// A right-to-left override, and the characters at which Emacs 28 hangs.
  private let controls = "\u{202e}\u{2066}\u{85}\u{2069}\u{1b}]52;c;x\u{7}"

  private func start() async throws -> ServiceUnderTest {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    return ana
  }

  private func create(_ title: String, _ text: String, _ ana: ServiceUnderTest) async throws -> DocumentId {
    let made = try await ana.request("notes/create", ["title": .string(title), "text": .string(text)])
    return try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
  }

  /// Ana's editor shows this note.
  private func open(_ text: String, _ ana: ServiceUnderTest) async throws {
    _ = try await create("Trip", text, ana)
    ana.open(uri, text)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
  }

  private func at(_ line: Int, _ character: Int, newName: String? = nil) -> JSONValue {
    .object(present: [
      "textDocument": ["uri": .string(uri)], "newName": newName.map(JSONValue.string),
      "position": ["line": JSONValue(line), "character": JSONValue(character)],
    ])
  }

  private func person(_ name: String) -> PersonSummary {
    PersonSummary(peer: PeerId(name), name: name, access: .write, isConnected: true)
  }

  private func warnings(_ ana: ServiceUnderTest) -> [String] {
    ana.sent.filter { $0["method"] == "window/showMessage" }.compactMap { $0["params"]?["message"]?.stringValue }
  }

  private func harmful(_ json: JSONValue) -> Bool {
    switch json {
    case .string(let text): text.unicodeScalars.contains(where: OneLine.isHarmful)
    case .array(let items): items.contains(where: harmful)
    case .object(let object): object.members.contains { harmful($0.value) }
    default: false
    }
  }

  // MARK: Links

  @Test func aLinkLeadsToOnesOwnNoteThoughAStrangersNewerOneHasItsTitle() async throws {
    let ana = try await start()
    _ = try await create("Diary", "mine\n", ana)
    try await ana.pass(.seconds(5))
    // Spelt exactly like the link, unlike the person's own title.
    let theirs = try await create("diary", "theirs\n", ana)
    ana.sharing.hosts[theirs] = "Mallory"
    try await open("See [[diary]]\n", ana)
    let found = try await ana.request("textDocument/definition", at(0, 7)).arrayValue ?? []
    #expect(found.map { $0["uri"] } == ["file:///notes/Diary.md", "file:///notes/diary.md"])
  }

  @Test func aTitleThatSeveralNotesHaveIsNotRenamedByALink() async throws {
    let ana = try await start()
    _ = try await create("Diary", "mine\n", ana)
    let theirs = try await create("diary", "theirs\n", ana)
    ana.sharing.hosts[theirs] = "Mallory"
    try await open("See [[Diary]]\n", ana)
    await #expect(throws: ResponseError.self) {
      try await ana.request("textDocument/rename", at(0, 7, newName: "Book"))
    }
    #expect(ana.files["/notes/Diary.md"] != nil && ana.files["/notes/diary.md"] != nil)
    // The person's own note has another title.
    _ = try await ana.request("textDocument/rename", at(0, 1, newName: "Journey"))
    #expect(try await ana.request("notes/open", ["title": "Journey"])["path"] != nil)
  }

  @Test func aNewTitleIsNotToldToPeopleWhoDoNotHaveTheNote() async throws {
    let ana = try await start()
    let diary = try await create("Diary", "mine\n", ana)
    // Mallory has guessed the title.
    let bait = try await create("Bait", "[[Diary]]\n", ana)
    let album = try await create("Album", "[[Diary]]\n", ana)
    ana.sharing.readers = [bait: [person("Mallory")], album: [person("Ben")], diary: [person("Ben"), person("Cleo")]]
    try await open("See [[Diary]]\n", ana)
    let answer = try await ana.request("textDocument/rename", at(0, 7, newName: "What I think of Mallory"))
    #expect(answer["changes"]?[uri]?.arrayValue?.count == 1)
    #expect(ana.text(of: bait) == "[[Diary]]\n")
    #expect(ana.text(of: album) == "[[What I think of Mallory]]\n")
    #expect(warnings(ana).count == 1 && warnings(ana)[0].contains("Bait") && !warnings(ana)[0].contains("Album"))
  }

  @Test func aNoteOfVeryManyLinksKeepsThem() async throws {
    let ana = try await start()
    _ = try await create("Diary", "mine\n", ana)
    let many = String(repeating: "[[Diary]]", count: LinkedTitle.maximumCount + 1)
    let (flood, few) = (try await create("Flood", many, ana), try await create("Few", "[[Diary]][[Diary]]", ana))
    try await open("See [[Diary]]\n", ana)
    let found = try await ana.request("textDocument/references", at(0, 7)).arrayValue ?? []
    #expect(found.count == LinkedTitle.maximumCount)
    _ = try await ana.request("textDocument/rename", at(0, 7, newName: "Book"))
    #expect(ana.text(of: few) == "[[Book]][[Book]]")
    #expect(ana.text(of: flood) == many)
    #expect(warnings(ana).count == 1 && warnings(ana)[0].contains("Flood"))
  }

  /// Four times as many links on one line, or lines, take about four times as long.
  @Test(arguments: ["[[b]]", "[[b]]\n", "[[", "]]", "\n", "# a\n", "```\n"])
  func lookingThroughATextTakesTimeInProportion(_ part: String) {
    func seconds(_ count: Int) -> Double {
      let text = Array(String(repeating: part, count: count).utf8)
      return (0..<3).map { _ in
        ProcessorTime.inThisThread {
          (LinkedTitle.all(to: "b", in: text, .utf16), Headings.all(in: text), NoteLink.all(in: text[...]))
        }.seconds
      }.min() ?? 0
    }
    let (short, long) = (seconds(2000), seconds(8000))
    #expect(long < 10 * short + 0.005)
  }

  @Test func aPlaceInALineOfMegabytesIsLookedAtAlone() async throws {
    let ana = try await start()
    _ = try await create("Diary", "mine\n", ana)
    let long = String(repeating: "x😀", count: 100_000)
    try await open("\(long)[[Diary]] \(long)", ana)
    let found = try await ana.request("textDocument/definition", at(0, 300_003)).arrayValue ?? []
    #expect(found.map { $0["uri"] } == ["file:///notes/Diary.md"])
    let binding = try #require(ana.binding(uri))
    let text = binding.buffer.clientView(of: binding.source)
    let line = ClientLine(at: Position(line: 0, character: 300_003), in: text, .utf16)
    #expect(line.bytes.count < 5000)
    #expect(
      line.range(line.offset - 3..<line.offset)
        == PositionRange(start: Position(line: 0, character: 300_000), end: Position(line: 0, character: 300_003)))
  }

  @Test(arguments: ["../../x", "/etc/x", "..", ".ssh", "a/../../b"])
  func aRenamedNoteStaysInItsFolder(_ title: String) async throws {
    let ana = try await start()
    _ = try await create("Diary", "mine\n", ana)
    try await open("See [[Diary]]\n", ana)
    _ = try await ana.request("textDocument/rename", at(0, 7, newName: title))
    let path = try #require(try await ana.request("notes/open", ["title": .string(title)])["path"]?.stringValue)
    #expect((path as NSString).deletingLastPathComponent == "/notes" && !path.contains("/."))
  }

  @Test func onlyTitlesThatALinkCanNameAreOffered() async throws {
    let ana = try await start()
    for title in ["Diary", "Di]] [[Bank", "Di|x", "Di#x", "Di\u{202e}x", "Di" + String(repeating: "x", count: 1000)] {
      _ = try await create(title, "", ana)
    }
    try await open("[[di\n", ana)
    let found = try await ana.request("textDocument/completion", at(0, 4))["items"]?.arrayValue ?? []
    #expect(found.map { $0["textEdit"]?["newText"] } == ["Diary]]"])
  }

  // MARK: Other people's words

  @Test func whatIsFoundInATextIsShownWithoutControls() async throws {
    let ana = try await start()
    let headings = (0..<20_000).map { "# \($0)\n" }.joined()
    try await open("[[\(controls)]]\n# one\(controls)\n## two\(String(repeating: "x", count: 5000))\n\(headings)", ana)
    let symbols = try await ana.request("textDocument/documentSymbol", at(0, 0))
    #expect(!harmful(symbols) && symbols.arrayValue?.count == Headings.maximumCount - 1)
    #expect(symbols[0]?["name"]?.stringValue?.hasPrefix("one") == true)
    #expect(symbols[0]?["children"]?[0]?["name"]?.stringValue.map { $0.count < 1001 } == true)
    let found = try await ana.request("workspace/symbol", ["query": "one"])
    #expect(!harmful(found) && found.arrayValue?.count == 1)
    let refused = await #expect(throws: ResponseError.self) {
      try await ana.request("textDocument/rename", at(0, 3, newName: "Book"))
    }
    #expect(refused.map { harmful(.string($0.message)) } == false)
  }

  /// Text that Markdown would turn into a link, or a client into a command, stays text.
  @Test func anAuthorsNameIsPlainText() {
    let name = "[Ben](command:x) <a href='command:x'>\(controls)"
    let start = Position(line: 0, character: 0)
    let span = Blame.Span(
      range: PositionRange(start: start, end: start), author: name, time: Date(timeIntervalSince1970: 0), color: 1)
    let hover = HoverRequest.Result(span: span, time: "today").json
    #expect(hover["contents"]?["kind"] == "plaintext" && !harmful(hover))
  }

  @Test func theDigitsComeBeforeAStrangersName() async throws {
    let ana = try await start()
    let name = "(both see 261 954)\(controls) the invitation of a friend whom you know"
    ana.sharing.invitations = [
      InvitationSummary(
        invitation: "1", direction: .received, peer: PeerId("mallory"), name: name, document: DocumentId(),
        title: "Budget (both see 261 954)", access: .write, code: "123456", awaitsConfirmation: false)
    ]
    try await open("text\n", ana)
    let actions = try await ana.request("textDocument/codeAction", at(0, 0))
    #expect(!harmful(actions))
    let titles = actions.arrayValue?.compactMap { $0["title"]?.stringValue } ?? []
    #expect(titles.first?.hasPrefix("Accept (both see 123 456) the invitation of ") == true)
    #expect(titles.allSatisfy { $0.count < 80 })
    let (accept, decline) = (actions[0]?["command"]?["arguments"]?[0], actions[1]?["command"]?["arguments"]?[0])
    #expect(accept?["accept"] == true && decline?["accept"] == false)
    // An invitation of a friend has no code to compare.
    ana.sharing.invitations[0].name = "Ben"
    ana.sharing.invitations[0].code = nil
    let friends = try await ana.request("textDocument/codeAction", at(0, 0))
    #expect(friends[0]?["title"] == "Accept the invitation of Ben")
  }

  @Test func aLensSaysThatItSharesWhateverTheNamesAre() async throws {
    let ana = try await start()
    try await open("text\n", ana)
    let id = try #require(ana.binding(uri)?.id)
    ana.sharing.readers[id] = (0..<50).map { person("Click here, it shares nothing \($0)\(controls)") }
    let lens = try await ana.request("textDocument/codeLens", at(0, 0))
    #expect(!harmful(lens))
    let title = lens[0]?["command"]?["title"]?.stringValue ?? ""
    #expect(title.hasSuffix(" · Share this note") && title.count < 100)
    #expect(lens[0]?["command"]?["command"] == "notes-lsp.share")
  }
}
