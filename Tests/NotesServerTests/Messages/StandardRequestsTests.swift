import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// LSP's own requests, for editors without a plugin.
@AutomergeRepo struct StandardRequestsTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 19)))
  private let uri = "file:///notes/Trip.md"
  private let text = "# Trip\nSee [[shopping]] and [[Nowhere]].\n## Food\nFrom [[Shopping#Fruit|the list]] 🍷\n# End\n"

  /// Ana's editor shows "Trip"; "Shopping" and "Diary" are notes that it does not show.
  private func opened() async throws -> ServiceUnderTest {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    try await ana.create("Shopping", "tea\n\n# Fruit\napples\n")
    try await ana.create("Diary", "Went [[Shopping]],\nthen [[Trip]] and 🍷 [[shopping]].\n")
    try await ana.create("Trip", text)
    ana.open(uri, text)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    return ana
  }

  private func at(_ line: Int, _ character: Int, newName: String? = nil) -> JSONValue {
    .object(present: [
      "textDocument": ["uri": .string(uri)], "newName": newName.map(JSONValue.string),
      "position": ["line": JSONValue(line), "character": JSONValue(character)],
    ])
  }

  @Test func aLinkLeadsToItsNoteAndItsHeading() async throws {
    let ana = try await opened()
    let whole = try await ana.request("textDocument/definition", at(1, 8))
    #expect(whole[0]?["uri"] == "file:///notes/Shopping.md")
    #expect(whole[0]?["range"]?["start"]?["line"] == 0)
    let part = try await ana.request("textDocument/definition", at(3, 12))
    #expect(part[0]?["range"]?["start"]?["line"] == 2)
    #expect(try await ana.request("textDocument/definition", at(1, 27)) == [])
    #expect(try await ana.request("textDocument/definition", at(0, 1)) == [])
  }

  @Test func titlesAreOfferedBehindTwoBrackets() async throws {
    let ana = try await opened()
    ana.change(uri, "Buy [[sh]] now\n", version: 2)
    let found = try await ana.request("textDocument/completion", at(0, 8))
    #expect(found["items"]?.arrayValue?.map { $0["label"] } == ["Shopping"])
    let edit = found["items"]?[0]?["textEdit"]
    #expect(edit?["newText"] == "Shopping]]")
    // The edit also replaces the brackets that the editor has added.
    #expect(edit?["range"] == ["start": ["line": 0, "character": 6], "end": ["line": 0, "character": 10]])
    #expect(try await ana.request("textDocument/completion", at(0, 2))["items"] == [])
    #expect(try await ana.request("textDocument/completion", at(0, 12))["items"] == [])
  }

  @Test func linksToANoteAreFoundInAllNotes() async throws {
    let ana = try await opened()
    let found = try await ana.request("textDocument/references", at(1, 8)).arrayValue ?? []
    #expect(
      found.map { $0["uri"]?.stringValue ?? "" }.sorted() == [
        "file:///notes/Diary.md", "file:///notes/Diary.md", uri, uri,
      ])
    // The client counts in UTF-16, where a glass of wine has length two.
    #expect(found.contains { $0["range"]?["start"] == ["line": 1, "character": 23] })
    let own = try await ana.request("textDocument/references", at(0, 1)).arrayValue ?? []
    #expect(own.map { $0["uri"] } == ["file:///notes/Diary.md"])
  }

  @Test func aRenamedNoteKeepsItsLinks() async throws {
    let ana = try await opened()
    let answer = try await ana.request("textDocument/rename", at(1, 8, newName: "Market"))
    #expect(try await ana.request("notes/open", ["title": "Market"])["path"] == "/notes/Market.md")
    // The client changes its own buffer; the service changes the other notes.
    let edits = answer["changes"]?[uri]?.arrayValue ?? []
    #expect(edits.map { $0["newText"] } == ["Market", "Market"])
    #expect(edits.last?["range"] == ["start": ["line": 3, "character": 7], "end": ["line": 3, "character": 15]])
    #expect(
      String(decoding: ana.files["/notes/Diary.md"] ?? [], as: UTF8.self)
        == "Went [[Market]],\nthen [[Trip]] and 🍷 [[Market]].\n")
    await #expect(throws: ResponseError.self) {
      try await ana.request("textDocument/rename", at(1, 8, newName: "a]]b"))
    }
  }

  @Test func headingsAreNested() async throws {
    let ana = try await opened()
    let symbols = try await ana.request("textDocument/documentSymbol", at(0, 0))
    #expect(symbols.arrayValue?.map { $0["name"] } == ["Trip", "End"])
    #expect(symbols[0]?["children"]?.arrayValue?.map { $0["name"] } == ["Food"])
    #expect(symbols[0]?["range"]?["end"]?["line"] == 3)
  }

  @Test func whoWroteAWordIsShownAtIt() async throws {
    let ana = try await opened()
    let hover = try await ana.request("textDocument/hover", at(1, 2))
    #expect(hover["contents"]?["value"]?.stringValue?.hasPrefix("ana, ") == true)
  }

  @Test func whoWroteTheEndOfALineIsShownBehindIt() async throws {
    let ana = try await opened()
    for place in [(0, 6), (0, 60), (4, 5)] {
      let hover = try await ana.request("textDocument/hover", at(place.0, place.1))
      #expect(hover["contents"]?["value"]?.stringValue?.hasPrefix("ana, ") == true, "\(place)")
    }
  }

  @Test func aNoteCanBeSharedRestoredAndMadeByCommands() async throws {
    let ana = try await opened()
    let lens = try await ana.request("textDocument/codeLens", at(0, 0))
    #expect(lens[0]?["command"]?["title"] == "Share this note")
    let actions = try await ana.request("textDocument/codeAction", at(0, 0)).arrayValue ?? []
    #expect(actions.first?["command"]?["command"] == "notes-lsp.share")
    _ = try await ana.request(
      "workspace/executeCommand", ["command": "notes-lsp.create", "arguments": [["title": "New"]]])
    #expect(ana.sent.contains { $0["params"]?["message"] == "The note is in /notes/New.md." })
    await #expect(throws: ResponseError.self) {
      try await ana.request("workspace/executeCommand", ["command": "notes-lsp.purge", "arguments": [["id": "x"]]])
    }
    // A file that is not a note can become one.
    ana.open("file:///notes/plain.txt", "words\n")
    let plain: JSONValue = ["textDocument": ["uri": "file:///notes/plain.txt"]]
    let offers = try await ana.request("textDocument/codeAction", plain).arrayValue ?? []
    #expect(offers.map { $0["title"] } == ["Make this file a note"])
    #expect(try await ana.request("textDocument/codeLens", plain) == [])
  }
}

extension ServiceUnderTest {
  func create(_ title: String, _ text: String) async throws {
    _ = try await request("notes/create", ["title": .string(title), "text": .string(text)])
  }
}
