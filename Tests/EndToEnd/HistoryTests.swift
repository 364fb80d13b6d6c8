import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// History, restoring and undo over standard input, with a peer.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct HistoryTests {}

extension HistoryTests {
  private struct Table {
    let ana: OpenNote
    let ben: JoinedNote

    /// Ana has written two lines, Ben a word in the first.
    init() throws {
      ana = try OpenNote("Ana", text: "milk\n")
      ben = try JoinedNote("Ben", ticket: ana.ticket())
      ana.client.edit(5..<5, with: "bread 🥖\n")
      ana.client.flush()
      try ModelClient.waitForConvergence([ana.client, ben.client])
      ben.client.edit(0..<0, with: "oat ")
      ben.client.flush()
      try ModelClient.waitForConvergence([ana.client, ben.client])
    }

    func ask(_ method: String, _ params: JSONObject = [:]) throws -> JSONValue {
      var params = params
      params["uri"] = .string(ana.client.uri)
      return try ana.process.request("notes/" + method, .object(params))
    }

    /// The states that the history names, newest first.
    func states() throws -> [JSONValue] {
      try #require(try ask("history")["changes"]?.arrayValue).compactMap { $0["heads"] }
    }

    func waitForBoth(_ text: String) throws {
      try NotesProcess.wait(for: text, of: [ana.process, ben.process]) {
        ana.client.text.string == text && ben.client.text.string == text
      }
    }
  }

  @Test func historyTellsWhoWroteWhat() throws {
    let table = try Table()
    let rows = try #require(try table.ask("history")["changes"]?.arrayValue)
    #expect(rows.map { $0["author"]?.stringValue } == ["Ben", "Ana"])
    #expect(rows.map { $0["inserted"]?.intValue } == [4, 13] && rows.map { $0["deleted"]?.intValue } == [0, 0])
    #expect(rows.map { $0["summary"]?.stringValue } == ["oat", "milk bread 🥖"])
    #expect(rows.allSatisfy { ($0["time"]?.intValue ?? 0) > 1_700_000_000_000 })
    let last = rows[0]["heads"] ?? .null, first = rows[1]["heads"] ?? .null
    #expect(try table.ask("textAt", ["heads": first])["text"] == "milk\nbread 🥖\n")
    #expect(try table.ask("textAt", ["heads": last])["text"] == "oat milk\nbread 🥖\n")
    #expect(try table.ask("history", ["limit": 1])["changes"]?.arrayValue?.count == 1)
    #expect(try table.ask("history", ["before": last])["changes"]?.arrayValue?.first?["heads"] == first)
    #expect(try table.ask("history", ["before": first])["changes"]?.arrayValue == [])
    // The same by id, and at Ben's.
    let there = try table.ben.process.request("notes/history", ["id": .string(table.ana.id)])
    #expect(there["changes"]?.arrayValue?.count == 2)
  }

  @Test func aDiffShowsTheLinesThatChangedAndWhoseTheyAre() throws {
    let table = try Table()
    let states = try table.states()
    let hunks = try #require(try table.ask("diff", ["from": states[1]])["hunks"]?.arrayValue)
    #expect(hunks.count == 1)
    #expect(hunks.first?["oldText"] == "milk\n" && hunks.first?["newText"] == "oat milk\n")
    #expect(hunks.first?["author"] == "Ben")
    #expect(hunks.first?["range"] == range((0, 0), (1, 0)))
    // Nothing counts as new while the note is open for the first time; changes that arrive while it is closed do.
    #expect(try table.ask("diff")["hunks"]?.arrayValue == [])
    table.ana.client.close()
    let list = try table.ana.process.request("notes/list")["notes"]?.arrayValue ?? []
    #expect(list.count == 1)
    table.ben.client.edit(20..<20, with: "cheese\n")
    table.ben.client.flush()
    let id: JSONValue = .string(table.ana.id)
    try NotesProcess.wait(for: "the cheese", of: [table.ana.process, table.ben.process]) {
      try table.ana.process.request("notes/diff", ["id": id])["hunks"]?[0]?["newText"] == "cheese\n"
    }
  }

  private func range(_ start: (Int, Int), _ end: (Int, Int)) -> JSONValue {
    func position(_ place: (Int, Int)) -> JSONValue {
      ["line": JSONValue(place.0), "character": JSONValue(place.1)]
    }
    return ["start": position(start), "end": position(end)]
  }

  @Test func blameNamesTheAuthorOfEachPart() throws {
    let table = try Table()
    func spans(_ part: JSONValue) throws -> [JSONValue] {
      try table.ask("blame", ["range": part])["spans"]?.arrayValue ?? []
    }
    let all = try spans(range((0, 0), (2, 0)))
    #expect(all.map { $0["author"]?.stringValue } == ["Ben", "Ana"])
    #expect(all.compactMap { $0["range"] } == [range((0, 0), (0, 4)), range((0, 4), (2, 0))])
    #expect(all.allSatisfy { (0..<12).contains($0["color"]?.intValue ?? -1) })
    let part = try spans(range((1, 0), (1, 5)))
    #expect(part.map { $0["author"]?.stringValue } == ["Ana"])
    #expect(part.first?["range"] == range((1, 0), (1, 5)))
  }

  @Test func anEarlierStateComesBackAsAnEditThatUndoTakesBack() throws {
    let table = try Table()
    let states = try table.states()
    #expect(try table.ask("restore", ["heads": states[1]]) == [:])
    try table.waitForBoth("milk\nbread 🥖\n")
    let place: JSONObject = ["version": JSONValue(table.ana.client.version), "rev": JSONValue(table.ana.client.rev)]
    #expect(try table.ask("undo", place)["applied"] == true)
    try table.waitForBoth("oat milk\nbread 🥖\n")
    // Restores only the second line.
    table.ana.client.edit(9..<14, with: "rolls")
    table.ana.client.edit(0..<3, with: "soy")
    table.ana.client.flush()
    try table.waitForBoth("soy milk\nrolls 🥖\n")
    _ = try table.ask("restore", ["heads": states[0], "range": range((1, 0), (2, 0))])
    try table.waitForBoth("soy milk\nbread 🥖\n")
    // If no editor has a note open, its file follows.
    table.ana.client.close()
    _ = try table.ana.process.request("notes/restore", ["id": .string(table.ana.id), "heads": states[1]])
    let path = try #require(FileManager.default.enumerator(atPath: table.ana.user.notes)?.allObjects.first as? String)
    try table.ana.process.waitFor("the file") {
      (try? String(contentsOfFile: table.ana.user.notes + "/" + path, encoding: .utf8)) == "milk\nbread 🥖\n"
    }
    expectNoComplaints(table.ana.client, table.ben.client)
  }

  @Test func undoAnswersWhatItDid() throws {
    let table = try Table()
    func undo(_ method: String = "undo") throws -> JSONValue {
      try table.ask(
        method, ["version": JSONValue(table.ana.client.version), "rev": JSONValue(table.ana.client.rev)])
    }
    #expect(try undo("redo")["applied"] == false)
    #expect(try undo() == ["applied": true, "count": 1])
    try table.waitForBoth("oat milk\n")
    let nothing = try undo()
    #expect(nothing["applied"] == false && nothing["message"]?.stringValue?.isEmpty == false)
    #expect(try undo("redo") == ["applied": true, "count": 1])
    try table.waitForBoth("oat milk\nbread 🥖\n")
    // Typing clears the redo steps.
    #expect(try undo()["applied"] == true)
    try table.waitForBoth("oat milk\n")
    table.ana.client.edit(0..<0, with: "hot ")
    table.ana.client.flush()
    try table.waitForBoth("hot oat milk\n")
    #expect(try undo("redo")["applied"] == false)
    expectNoComplaints(table.ana.client, table.ben.client)
  }

  @Test func whatIsNotKnownIsRefusedInOneSentence() throws {
    let table = try Table()
    let stranger = JSONValue.array([.string(String(repeating: "ab", count: 32))])
    let uri = JSONValue.string(table.ana.client.uri)
    for method in ["textAt", "restore"] {
      let unknown = try table.ana.process.refusal("notes/" + method, ["uri": uri, "heads": stranger])
      #expect(unknown?.kind == "notFound", "\(method)")
      for wrong in [["xyz"], 7, .null, [.string(String(repeating: "a", count: 63))]] as [JSONValue] {
        let refusal = try table.ana.process.refusal("notes/" + method, ["uri": uri, "heads": wrong])
        #expect(refusal?.code == -32602, "\(method) \(wrong)")
      }
    }
    let before = try table.ana.process.refusal("notes/history", ["uri": uri, "before": []])
    #expect(before?.code == -32602)
    let place: JSONValue = ["uri": "file:///nowhere.md", "version": 1, "rev": 0]
    #expect(try table.ana.process.refusal("notes/undo", place)?.kind == "notANote")
    #expect(try table.ana.process.refusal("notes/undo", ["uri": uri])?.code == -32602)
  }
}
