import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Editors without a plugin of ours: any LSP client that supports `workspace/applyEdit`.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct PlainClientTests {}

extension PlainClientTests {
  /// Ana, who has the plugin, and Bob, whose editor knows nothing of notes, in one note.
  private struct Pair {
    let ana: OpenNote
    let bob: PlainClient

    init(text: String, _ manners: PlainClient.Manners) throws {
      ana = try OpenNote(text: text)
      bob = try PlainClient(NotesUser("Bob").start(), ticket: ana.ticket(), manners: manners)
    }

    func wait(for what: String, _ condition: () throws -> Bool) throws {
      try NotesProcess.wait(for: what, of: [ana.process, bob.process], condition)
    }
  }

  @Test(arguments: PlainClient.Manners.allCases) func whatOthersWriteIsOffered(_ manners: PlainClient.Manners) throws {
    let pair = try Pair(text: "one 😀\ntwo\n", manners)
    pair.ana.client.edit(0..<0, with: "zero\n")
    pair.ana.client.flush()
    try pair.wait(for: "Ana's line") { pair.bob.text.string == "zero\none 😀\ntwo\n" }
    // The echo of that edit does not count as typing; his own words after the wide character do.
    pair.bob.edit(14..<14, with: " and more")
    pair.bob.flush()
    try pair.wait(for: "Bob's words") { pair.ana.client.text.string == "zero\none 😀\n and moretwo\n" }
    #expect(pair.bob.text.string == pair.ana.client.text.string)
    expectNoComplaints(pair.ana.client)
  }

  @Test func anEditThatWasSkippedIsNotTakenForADeletionAndComesAgain() throws {
    let pair = try Pair(text: "one\n", .skips)
    pair.bob.isBusy = true
    pair.ana.client.edit(4..<4, with: "two\n")
    pair.ana.client.flush()
    try pair.wait(for: "the offer") { !pair.bob.isSynced }
    pair.bob.edit(0..<0, with: "zero\n")
    pair.bob.isBusy = false
    #expect(pair.bob.skippedCount == 1)
    pair.bob.flush()
    try pair.wait(for: "both lines at both") {
      pair.bob.text.string == "zero\none\ntwo\n" && pair.ana.client.text.string == "zero\none\ntwo\n"
    }
    #expect(pair.bob.mostOutstanding == 1)
    expectNoComplaints(pair.ana.client)
  }

  @Test func aClientThatWantsNoEditsIsSentNone() throws {
    let ana = try OpenNote(text: "one\n")
    let user = try NotesUser("Bob")
    let bob = try user.start()
    try bob.request("initialize", ["processId": nil, "capabilities": [:]])
    let joined = try bob.request("notes/join", ["ticket": .string(ana.ticket())])
    bob.notify(
      "textDocument/didOpen",
      [
        "textDocument": [
          "uri": joined["uri"] ?? .null, "languageId": "markdown", "version": 1, "text": "one\n",
        ]
      ])
    ana.client.edit(0..<0, with: "zero\n")
    ana.client.flush()
    // His text does not delete words that his editor has not received.
    bob.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": joined["uri"] ?? .null, "version": 2],
        "contentChanges": [["text": "one\ntwo\n"]],
      ])
    try NotesProcess.wait(for: "Bob's line", of: [ana.process, bob]) {
      ana.client.text.string == "zero\none\ntwo\n"
    }
    #expect(!bob.messages.contains { $0["method"] == "workspace/applyEdit" })
  }

  @Test func aPersonWhoseEditorSendsChangesOutOfOrderIsTold() throws {
    let pair = try Pair(text: "one\n", .refuses)
    func change(_ version: Int, at character: Int, _ text: String) {
      let place: JSONValue = ["line": 0, "character": JSONValue(character)]
      pair.bob.process.notify(
        "textDocument/didChange",
        [
          "textDocument": ["uri": .string(pair.bob.uri), "version": JSONValue(version)],
          "contentChanges": [["range": ["start": place, "end": place], "text": .string(text)]],
        ])
    }
    change(3, at: 4, "y")
    change(2, at: 3, "x")
    try pair.bob.process.waitForNotification("window/showMessage") {
      $0["type"] == 1 && $0["message"]?.stringValue?.contains("save, close and reopen") ?? false
    }
  }

  @Test func anInvitationIsAQuestion() throws {
    let pair = try Pair(text: "one\n", .refuses)
    pair.bob.choice = "Accept"
    let cake = try pair.ana.process.request("notes/create", ["title": "Cake", "text": "apple\n"])
    try pair.ana.process.request("notes/invite", ["uri": cake["uri"] ?? .null, "peer": "Bob"])
    let told = try pair.bob.process.waitForNotification("window/showMessage") {
      $0["message"]?.stringValue?.hasSuffix("Cake.md.") ?? false
    }
    let path = try #require(told["message"]?.stringValue?.split(separator: " ").last?.dropLast())
    #expect(try String(contentsOfFile: String(path), encoding: .utf8) == "apple\n")
    pair.bob.choice = "Decline"
    let pie = try pair.ana.process.request("notes/create", ["title": "Pie", "text": "plum\n"])
    try pair.ana.process.request("notes/invite", ["uri": pie["uri"] ?? .null, "peer": "Bob"])
    try pair.wait(for: "his answer") {
      pair.ana.process.messages.contains { $0["method"] == "notes/event" && $0["params"]?["kind"] == "declined" }
    }
  }

  @Test func aPersonWhoseEditorCannotAskIsToldOfAnInvitation() throws {
    let pair = try Pair(text: "one\n", .refuses)
    pair.bob.asks = false
    let cake = try pair.ana.process.request("notes/create", ["title": "Cake", "text": "apple\n"])
    try pair.ana.process.request("notes/invite", ["uri": cake["uri"] ?? .null, "peer": "Bob"])
    try pair.bob.process.waitForNotification("window/showMessage") {
      $0["message"]?.stringValue?.hasPrefix("Ana invites you to \"Cake\": choose a code action") ?? false
    }
    let actions = try pair.bob.process.request(
      "textDocument/codeAction", ["textDocument": ["uri": .string(pair.bob.uri)]])
    #expect(actions[0]?["title"] == "Accept the invitation of Ana")
  }

  /// Both type at random; Bob's editor sends its changes late, and is sometimes too busy to answer.
  @Test(arguments: PlainClient.Manners.allCases, [41, 42] as [UInt64])
  func bothTypeAndNothingIsLost(_ manners: PlainClient.Manners, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pair = try Pair(text: "start\n", manners)
    let (ana, bob) = (pair.ana.client, pair.bob)
    var words: [String] = []
    func place(in text: ModelText) -> Int {
      // A place where no word is split.
      let end = Int.random(in: 0...text.bytes.count, using: &random)
      return text.bytes[..<end].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }
    for round in 0..<150 {
      if Bool.random(using: &random) {
        let start = place(in: ana.text)
        words.append("<a\(round)>")
        ana.edit(start..<start, with: "<a\(round)>\n")
        ana.flush()
      }
      if Bool.random(using: &random) {
        let start = place(in: bob.text)
        words.append("<b\(round)>")
        bob.edit(start..<start, with: "<b\(round)>\n")
      }
      if Int.random(in: 0..<3, using: &random) == 0 { bob.flush() }
      if Int.random(in: 0..<4, using: &random) == 0 { bob.isBusy.toggle() }
      try ana.process.collect()
      try bob.process.collect()
    }
    bob.isBusy = false
    // An edit that was refused or skipped is offered again after his next change.
    var extra = 0
    func settle() throws -> Bool {
      bob.flush()
      guard bob.isSynced, ana.isSynced else { return false }
      if bob.text.string == ana.text.string { return true }
      extra += 1
      let start = place(in: bob.text)
      if extra % 20 == 0 {
        words.append("<e\(extra)>")
        bob.edit(start..<start, with: "<e\(extra)>\n")
      }
      ChildProcess.waitForActivity(of: [ana.process.child, bob.process.child], until: .now + .milliseconds(20))
      return false
    }
    try pair.wait(for: "equal buffers", settle)
    for word in words {
      let count = ana.text.string.components(separatedBy: word).count - 1
      // A client that ignores versions may show an edit in a way that looks like typing.
      #expect(manners == .applies ? count >= 1 : count == 1, "\(word) is there \(count) times; seed \(seed)")
    }
    #expect(bob.appliedCount > 0 && bob.mostOutstanding == 1, "seed \(seed)")
    expectNoComplaints(ana, seed: seed)
  }
}
