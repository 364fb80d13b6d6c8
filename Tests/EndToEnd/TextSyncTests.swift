import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// An editor's text and the service's copy of it, when the editor's messages are odd.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct TextSyncTests {}

extension TextSyncTests {
  /// Sends changes as they are and waits until the service proves that it clamps positions as the model does.
  private func expectSameClamping(_ text: String, _ encoding: PositionEncoding, changes: JSONValue) throws {
    let note = try OpenNote(text: text, encoding: encoding)
    #expect(note.client.text.string == text)
    note.client.sendRaw(changes)
    try ModelClient.waitForConvergence([note.client])
    expectNoComplaints(note.client)
  }

  private func change(_ start: (Int, Int), _ end: (Int, Int), _ text: String) -> JSONValue {
    [
      "range": [
        "start": ["line": JSONValue(start.0), "character": JSONValue(start.1)],
        "end": ["line": JSONValue(end.0), "character": JSONValue(end.1)],
      ], "text": .string(text),
    ]
  }

  @Test(arguments: PositionEncoding.allCases)
  func positionsOffTheTextAreClamped(encoding: PositionEncoding) throws {
    let changes = [
      change((0, 99), (0, 1000), "!"), change((7, 0), (9, 3), "end"), change((1, 1), (99, 99), "?"),
      change((2_147_483_647, 2_147_483_647), (2_147_483_647, 2_147_483_647), "."),
    ]
    try expectSameClamping("one\ntwo 😀\nthree\n", encoding, changes: .array(changes))
  }

  @Test(arguments: [(PositionEncoding.utf16, 2), (.utf8, 2), (.utf8, 3), (.utf8, 4)])
  func aPositionInsideAScalarMeansItsStart(encoding: PositionEncoding, character: Int) throws {
    try expectSameClamping("x😀y\n", encoding, changes: [change((0, character), (0, character), "here")])
  }

  @Test func aVersionThatGoesBackwardsIsAskedForTheFullText() throws {
    let note = try OpenNote(text: "abc\n")
    note.client.edit(0..<0, with: "1")
    note.client.flush()
    note.process.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(note.client.uri), "version": 1], "notes": ["rev": 0],
        "contentChanges": [change((0, 0), (0, 0), "never")],
      ])
    let resync = try note.process.waitForNotification("notes/resync")
    #expect(resync["uri"]?.stringValue == note.client.uri)
    #expect(resync["reason"]?.stringValue?.isEmpty == false)
    // The client has answered with its full text, which repairs everything.
    try ModelClient.waitForConvergence([note.client])
    #expect(note.client.text.string == "1abc\n")
  }

  @Test func aRevThatWasNeverSentIsAskedForTheFullText() throws {
    let note = try OpenNote(text: "abc\n")
    note.process.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(note.client.uri), "version": 2], "notes": ["rev": 17],
        "contentChanges": [change((0, 0), (0, 0), "x")],
      ])
    try note.process.waitForNotification("notes/resync")
    try note.process.request("notes/list")
  }

  @Test func aChangeOfAnUnknownFileIsAskedForTheFullText() throws {
    let process = try NotesUser("Ana").startInitialized()
    process.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": "file:///tmp/unknown.md", "version": 2], "notes": ["rev": 0],
        "contentChanges": [["text": "x"]],
      ])
    let resync = try process.waitForNotification("notes/resync")
    #expect(resync["uri"] == "file:///tmp/unknown.md")
    try process.request("notes/list")
  }

  @Test func notificationsWithWrongFieldsDoNotEndTheProcess() throws {
    let note = try OpenNote(text: "abc\n")
    let uri = JSONValue.string(note.client.uri)
    for method in [
      "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "notes/cursor",
      "notes/ack",
    ] {
      let wrong: [JSONValue] = [
        nil, [], 5, [:], ["textDocument": 5], ["uri": uri, "version": "one"],
        ["textDocument": ["uri": uri, "version": 2], "contentChanges": 7],
        ["uri": uri, "version": 1, "rev": 0, "ranges": [["start": 1]]],
      ]
      for params in wrong { note.process.notify(method, params) }
    }
    try note.process.request("notes/list")
    note.client.edit(0..<0, with: "x")
    note.client.flush(asFullText: true)
    try ModelClient.waitForConvergence([note.client])
    #expect(note.client.text.string == "xabc\n")
  }

  @Test
  func manyScatteredChangesInOneBatchAreTakenInTime() throws {
    let seed: UInt64 = 5
    var random = SplitMix64(seed: seed)
    let lineCount = 3000
    let note = try OpenNote(text: (0..<lineCount).map { "\($0) words 한글\n" }.joined())
    let changes = (0..<600).map { _ in
      let line = random.below(lineCount)
      return change((line, 0), (line, random.below(4)), random.chance(50) ? "77" : "")
    }
    note.client.sendRaw(.array(changes))
    try ModelClient.waitForConvergence([note.client])
    expectNoComplaints(note.client, seed: seed)
  }

  @Test(arguments: PositionEncoding.allCases)
  func randomEditsOfOnePersonAreKnownExactly(encoding: PositionEncoding) throws {
    let seed: UInt64 = 11
    var random = SplitMix64(seed: seed)
    let note = try OpenNote(encoding: encoding)
    for _ in 0..<400 { note.client.performRandomStep(using: &random) }
    try ModelClient.waitForConvergence([note.client])
    expectNoComplaints(note.client, seed: seed)
    note.client.close()
    #expect(try note.process.shutdown() == .code(0))
    #expect(try note.user.storedText(of: note.id) == note.client.text.string)
  }

  /// An editor that has asked for the status, and was told another one than in the last news, must get news when that
  /// earlier status is true again.
  @Test func anEditorThatAskedHowThingsStandHearsWhenTheyAreAsBefore() throws {
    let note = try OpenNote(text: "milk\n")
    let place: JSONValue = ["uri": .string(note.client.uri)]
    try note.process.waitFor("the note to be stored") {
      try note.process.request("notes/status", place)["stored"] == true
    }
    var askedInTime = 0
    for _ in 0..<10 {
      let count = note.process.messages.count
      note.client.edit(0..<0, with: "x")
      note.client.flush()
      guard try note.process.request("notes/status", place)["stored"] == false else { continue }
      askedInTime += 1
      try note.process.waitFor("the news that it is stored") {
        note.process.messages.dropFirst(count).contains {
          $0["method"] == "notes/statusChanged" && $0["params"]?["stored"] == true
        }
      }
    }
    #expect(askedInTime > 0)
  }
}
