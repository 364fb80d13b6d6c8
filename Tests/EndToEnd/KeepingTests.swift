import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Renaming, deleting and restoring notes; files that other programs write.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct KeepingTests {}

extension KeepingTests {
  private struct Closed {
    let user: NotesUser
    let process: NotesProcess
    let id: String
    let path: String
  }

  private func closedNote(_ text: String, title: String = "Shopping") throws -> Closed {
    let user = try NotesUser("Ana")
    let process = try user.startInitialized()
    let note = try process.request("notes/create", ["title": .string(title), "text": .string(text)])
    return Closed(
      user: user, process: process, id: try #require(note["id"]?.stringValue),
      path: try #require(note["path"]?.stringValue))
  }

  private func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  @Test func aNoteThatIsRenamedTakesItsFileAlong() throws {
    let note = try closedNote("milk\n")
    let renamed = try note.process.request("notes/rename", ["id": .string(note.id), "title": "Tea party"])
    let path = try #require(renamed["path"]?.stringValue)
    #expect(path.hasSuffix("/Tea party.md"))
    #expect(read(path) == "milk\n")
    #expect(read(note.path) == nil)
    #expect(try note.process.request("notes/list")["notes"]?[0]?["title"] == "Tea party")
    // The same holds after a restart.
    try note.process.shutdown()
    let again = try note.user.startInitialized()
    #expect(try again.request("notes/open", ["title": "Tea party"])["path"]?.stringValue == path)
  }

  @Test func anOpenNotesFileIsRenamedWhenItIsClosed() throws {
    let note = try OpenNote(text: "milk\n")
    let path = try #require(try note.process.request("notes/list")["notes"]?[0]?["path"]?.stringValue)
    let renamed = try note.process.request("notes/rename", ["uri": .string(note.client.uri), "title": "Tea"])
    #expect(renamed["path"]?.stringValue == path)
    note.client.edit(0..<0, with: "more ")
    try ModelClient.waitForConvergence([note.client])
    note.client.close()
    let new = (path as NSString).deletingLastPathComponent + "/Tea.md"
    try note.process.waitFor("the file under its new name") { read(new) == "more milk\n" && read(path) == nil }
  }

  @Test func twoNotesMayHaveOneTitle() throws {
    let note = try closedNote("one\n", title: "Same")
    let other = try note.process.request("notes/create", ["title": "Other", "text": "two\n"])
    let renamed = try note.process.request("notes/rename", ["id": other["id"] ?? .null, "title": "Same"])
    #expect(renamed["path"]?.stringValue?.hasSuffix("/Same 2.md") == true)
    #expect(read(note.path) == "one\n")
    #expect(read(renamed["path"]?.stringValue ?? "") == "two\n")
  }

  @Test(arguments: ["../../escape", "CON", ".hidden", String(repeating: "ä", count: 300), "a/b\\c", "~", "x\u{202E}y"])
  func titlesThatAreHostileAsFileNamesStayInTheFolder(title: String) throws {
    let note = try closedNote("text\n")
    let renamed = try note.process.request("notes/rename", ["id": .string(note.id), "title": .string(title)])
    let path = try #require(renamed["path"]?.stringValue)
    #expect((path as NSString).deletingLastPathComponent == note.user.notes)
    #expect((path as NSString).lastPathComponent.utf8.count <= 255)
    #expect(!(path as NSString).lastPathComponent.hasPrefix("."))
    #expect(read(path) == "text\n")
    // Characters that reverse the direction of a line are not shown.
    let shown = title.replacingOccurrences(of: "\u{202E}", with: "")
    #expect(try note.process.request("notes/list")["notes"]?[0]?["title"]?.stringValue == shown)
  }

  @Test func aTitleOfSeveralLinesIsRefused() throws {
    let note = try closedNote("text\n")
    for title in ["", " \n", "a\nb", "a\u{0}b"] {
      let refusal = try note.process.refusal("notes/rename", ["id": .string(note.id), "title": .string(title)])
      #expect(refusal?.code == -32602)
    }
  }

  @Test func aNoteOpensAlthoughTheDiskIsFullAndWhatItsFileHasIsStoredLater() throws {
    let note = try closedNote("milk\n")
    try limitFiles(of: note.process.child.processId, to: 0)
    try "milk\neggs\n".write(toFile: note.path, atomically: true, encoding: .utf8)
    let client = try ModelClient(note.process, note: note.process.request("notes/open", ["id": .string(note.id)]))
    try limitFiles(of: note.process.child.processId, to: nil)
    try ModelClient.waitForConvergence([client])
    client.close()
    try note.process.waitFor("the store") { try note.user.storedText(of: note.id) == "milk\neggs\n" }
  }

  @Test func aDeletedNoteCanBeHadBack() throws {
    let note = try closedNote("milk\n")
    // Another program wrote to the file; its words are not lost either.
    try "milk\neggs\n".write(toFile: note.path, atomically: true, encoding: .utf8)
    let deleted = try note.process.request("notes/delete", ["id": .string(note.id)])
    let days = Double(deleted["recoverableUntil"]?.intValue ?? 0) / 86_400_000 - Date().timeIntervalSince1970 / 86_400
    #expect((29.9...30.1).contains(days))
    #expect(read(note.path) == nil)
    #expect(try note.process.request("notes/list")["notes"] == [])
    try note.process.shutdown()
    let again = try note.user.startInitialized()
    #expect(try again.request("notes/list")["notes"] == [])
    let list = try again.request("notes/list", ["deleted": true])
    #expect(list["notes"]?[0]?["id"]?.stringValue == note.id)
    let back = try again.request("notes/undelete", ["id": .string(note.id)])
    #expect(read(back["path"]?.stringValue ?? "") == "milk\neggs\n")
    #expect(try again.request("notes/list")["notes"]?.arrayValue?.count == 1)
    #expect(try again.refusal("notes/undelete", ["id": .string(note.id)])?.kind == "notFound")
  }

  @Test func anOpenNoteThatIsDeletedKeepsTheEditorsLastWords() throws {
    let note = try OpenNote(text: "milk\n")
    note.client.edit(0..<0, with: "unsaved ")
    note.client.flush()
    try note.process.request("notes/delete", ["uri": .string(note.client.uri)])
    let back = try note.process.request("notes/undelete", ["id": .string(note.id)])
    #expect(read(back["path"]?.stringValue ?? "") == "unsaved milk\n")
  }

  @Test func onlyADeletedNoteIsRemovedForGood() throws {
    let note = try closedNote("milk\n")
    #expect(try note.process.refusal("notes/purge", ["id": .string(note.id)])?.kind == "conflict")
    try note.process.request("notes/delete", ["id": .string(note.id)])
    try note.process.request("notes/purge", ["id": .string(note.id)])
    #expect(try note.process.request("notes/list", ["deleted": true])["notes"] == [])
    #expect(try note.process.refusal("notes/open", ["id": .string(note.id)])?.kind == "notFound")
    try note.process.shutdown()
    let again = try note.user.startInitialized()
    #expect(try again.refusal("notes/open", ["id": .string(note.id)])?.kind == "notFound")
    #expect(try note.user.run(["fsck"]).exit == .code(0))
  }

  @Test func whatWasWrittenToAFileWhileNothingRanIsTakenInOnce() throws {
    let note = try closedNote("one\ntwo\nthree\n")
    try note.process.shutdown()
    try "one\n2\nthree\nfour\n".write(toFile: note.path, atomically: true, encoding: .utf8)
    for _ in 0..<3 {
      let process = try note.user.startInitialized()
      let opened = try process.request("notes/open", ["id": .string(note.id)])
      #expect(read(opened["path"]?.stringValue ?? "") == "one\n2\nthree\nfour\n")
      try process.shutdown()
      #expect(try note.user.storedText(of: note.id) == "one\n2\nthree\nfour\n")
    }
  }

  @Test func aServiceThatIsKilledWhileItWritesFilesDoublesNothing() throws {
    var random = SeededGenerator(seed: 61)
    let user = try NotesUser("Ana")
    var process = try user.startInitialized()
    let note = try process.request("notes/create", ["title": "Killed", "text": "x\n"])
    let id = try #require(note["id"]?.stringValue)
    var client = try ModelClient(process, note: note)
    for round in 0..<8 {
      let word = "<\(round)>"
      client.edit(0..<0, with: word)
      try ModelClient.waitForConvergence([client])
      try process.waitFor("it is stored") {
        try process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
      }
      client.close()
      // The service writes the file half a second later; the process dies around that time.
      try process.listen(for: .milliseconds(Int.random(in: 0...900, using: &random)))
      try process.kill()
      process = try user.startInitialized()
      client = try ModelClient(process, note: try process.request("notes/open", ["id": .string(id)]))
      try ModelClient.waitForConvergence([client])
      let expected = (0...round).reversed().map { "<\($0)>" }.joined() + "x\n"
      try #require(client.text.string == expected, "seed \(random.seed), round \(round)")
    }
  }

  @Test func whatAFullTextWouldHaveLostIsListed() throws {
    let note = try OpenNote(text: "one\ntwo\n")
    // The client contradicts the service, which then requests the full text; a line is missing there.
    note.process.onNotification = { _, _ in }
    note.process.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(note.client.uri), "version": 2], "notes": ["rev": 17],
        "contentChanges": [
          ["range": ["start": ["line": 0, "character": 0], "end": ["line": 0, "character": 0]], "text": "x"]
        ],
      ])
    try note.process.waitForNotification("notes/resync")
    note.process.notify(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(note.client.uri), "version": 3], "notes": ["rev": 0],
        "contentChanges": [["text": "one\n"]],
      ])
    var texts: [JSONValue] = []
    try note.process.waitFor("the recovered text") {
      texts = try note.process.request("notes/recovered")["texts"]?.arrayValue ?? []
      return !texts.isEmpty
    }
    #expect(texts[0]["title"] == "Shopping")
    #expect(read(texts[0]["path"]?.stringValue ?? "")?.contains("two") == true)
  }
}
