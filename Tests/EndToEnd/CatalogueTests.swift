import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The list of notes: searching, news of other people's changes, and files that other programs write.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct CatalogueTests {}

extension CatalogueTests {
  private func titles(_ process: NotesProcess, _ query: String) throws -> [String] {
    (try process.request("notes/list", ["query": .string(query)])["notes"]?.arrayValue ?? [])
      .compactMap { $0["title"]?.stringValue }.sorted()
  }

  @Test func notesAreFoundByTheirTitlesAndTexts() throws {
    let note = try OpenNote(text: "milk\n")
    try note.process.request("notes/create", ["title": "Tea", "text": "# Kinds\n\n- Green\n## Black\n"])
    let meeting = try note.process.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    try note.process.request(
      "notes/addItem", ["id": meeting["id"] ?? .null, "title": "Drinks", "text": "# Coffee\n"])
    #expect(try titles(note.process, "TEA") == ["Tea"])
    #expect(try titles(note.process, "green") == ["Tea"])
    #expect(try titles(note.process, "coffee") == ["Weekly"])
    #expect(try titles(note.process, "e").count == 2)
    #expect(try titles(note.process, "nowhere") == [])
    // The search finds typed words before any file has them.
    note.client.edit(0..<0, with: "Eggs and ")
    note.client.flush()
    let found = try note.process.request("notes/list", ["query": "eggs"])["notes"]
    #expect(found?[0]?["match"]?["text"] == "Eggs and milk")
    #expect(found?[0]?["match"]?["uri"]?.stringValue == note.client.uri)
    let symbols = try note.process.request("workspace/symbol", ["query": "k"]).arrayValue ?? []
    #expect(symbols.compactMap { $0["name"]?.stringValue }.sorted() == ["Black", "Kinds", "Weekly – Drinks"])
    let black = try #require(symbols.first { $0["name"] == "Black" })
    #expect(black["location"]?["range"]?["start"]?["line"] == 3)
    #expect(black["containerName"] == "Tea")
    #expect(try note.process.request("workspace/symbol", ["query": ""]).arrayValue?.count == 3)
  }

  @Test func whatAnotherProcessDoesIsNewsHere() throws {
    let note = try OpenNote(text: "milk\n")
    let other = try note.user.startInitialized()
    func news(_ kind: String, _ title: String) throws {
      try note.process.waitForNotification("notes/event") {
        $0["kind"]?.stringValue == kind && $0["title"]?.stringValue == title
      }
    }
    let made = try other.request("notes/create", ["title": "Tea"])
    try news("created", "Tea")
    try other.request("notes/rename", ["id": made["id"] ?? .null, "title": "Coffee"])
    try news("renamed", "Coffee")
    #expect(try titles(note.process, "") == ["Coffee", "Shopping"])
    try other.request("notes/delete", ["id": made["id"] ?? .null])
    try news("deleted", "Coffee")
    #expect(try titles(note.process, "") == ["Shopping"])
    try other.request("notes/undelete", ["id": made["id"] ?? .null])
    try news("restored", "Coffee")
    // A third process, which only the hub knows, receives it, too.
    let third = try note.user.startInitialized()
    try third.waitFor("all notes") { try titles(third, "") == ["Coffee", "Shopping"] }
    try other.request("notes/rename", ["id": made["id"] ?? .null, "title": "Juice"])
    try news("renamed", "Juice")
    try third.waitForNotification("notes/event") { $0["title"] == "Juice" }
    #expect(try titles(third, "") == ["Juice", "Shopping"])
  }

  @Test func whatAnotherProgramWritesToAClosedFileIsNoticedAtOnce() throws {
    let ana = try OpenNote(text: "milk\n")
    let bob = try JoinedNote("Bob", ticket: ana.ticket())
    let path = try #require(try ana.process.request("notes/list")["notes"]?[0]?["path"]?.stringValue)
    ana.client.close()
    try ana.process.waitFor("the file to be looked after") { !ana.user.isClaimed(ana.id) }
    // In place, as a script does, and by renaming, as an editor does.
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("eggs\n".utf8))
    try file.close()
    try ModelClient.waitForConvergence([bob.client])
    try bob.process.waitFor("eggs") { bob.client.text.string == "milk\neggs\n" }
    try "butter\neggs\n".write(toFile: path, atomically: true, encoding: .utf8)
    try bob.process.waitFor("butter") { bob.client.text.string == "butter\neggs\n" }
    // The service merges the file's change with its earlier content as the base, and does not overwrite other people's
    // words.
    bob.client.edit(0..<0, with: "fresh ")
    bob.client.flush()
    try ana.process.waitFor("Bob's word in the file") {
      (try? String(contentsOfFile: path, encoding: .utf8)) == "fresh butter\neggs\n"
    }
    // A removed file is not made again while another program works on it.
    try FileManager.default.removeItem(atPath: path)
    // The service notices changes of another file there later.
    let other = try ana.process.request("notes/create", ["title": "Other", "text": "old\n"])
    try "new\n".write(toFile: try #require(other["path"]?.stringValue), atomically: true, encoding: .utf8)
    try ana.process.waitFor("what another program wrote") {
      try ana.process.request("notes/list", ["query": "new"])["notes"]?.arrayValue?.isEmpty == false
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    try ana.process.request("notes/open", ["id": .string(ana.id)])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "fresh butter\neggs\n")
    expectNoComplaints(bob.client)
  }

  @Test func initializeIsAnsweredAndTheRestFollowsInOrder() throws {
    let user = try NotesUser("Ana")
    let first = try user.startInitialized()
    let made = try first.request("notes/create", ["title": "Tea", "text": "green\n"])
    try first.shutdown()
    // The client sends everything at once, before the service has read a single record.
    let process = try user.start()
    let initialize = process.startRequest(
      "initialize",
      [
        "processId": nil, "capabilities": ["general": ["positionEncodings": ["utf-8"]]],
        "initializationOptions": ["notes": ["protocol": 1, "userName": "Ana"]],
      ])
    let client = try ModelClient(process, note: made)
    client.edit(0..<0, with: "hot ")
    client.flush()
    let list = try process.request("notes/list")
    #expect(list["notes"]?[0]?["title"] == "Tea")
    #expect(initialize == 1)
    try ModelClient.waitForConvergence([client])
    try process.shutdown()
    #expect(try user.storedText(of: made["id"]?.stringValue ?? "") == "hot green\n")
    expectNoComplaints(client)
  }
}

extension NotesUser {
  /// Whether a process of this person has the note open, or is using its file.
  fileprivate func isClaimed(_ id: String) -> Bool {
    let descriptor = open(home + "/open/" + id, O_RDWR)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }
}
