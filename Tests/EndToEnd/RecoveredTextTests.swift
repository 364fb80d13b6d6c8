import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The service tells a person once about each recovered text, however it was recovered.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct RecoveredTextTests {}

extension RecoveredTextTests {
  private func news(_ process: NotesProcess) throws -> JSONValue {
    try process.waitForNotification("notes/event") { $0["kind"] == "recovered" }
  }

  private func newsCount(_ process: NotesProcess) -> Int {
    process.messages.count { $0["method"] == "notes/event" && $0["params"]?["kind"] == "recovered" }
  }

  @Test func aTextThatIsKeptWhileNoEditorIsThereIsToldToTheNextOneAndOnlyOnce() throws {
    let meeting = try Meeting()
    let service = try meeting.user.start()
    try meeting.deleteItem()
    try meeting.waitForFile(false)
    try service.kill()
    let next = try meeting.user.startInitialized()
    let event = try news(next)
    #expect(event["message"] == "Kept as recovered: a copy of \"Drinks\"")
    let copy = try String(contentsOfFile: try #require(event["recovered"]?.stringValue), encoding: .utf8)
    #expect(copy == "tea\n")
    // Private whatever the umask is: the item's own file may have been private.
    let folder = try FileManager.default.attributesOfItem(atPath: meeting.user.notes + "/.recovered")
    #expect(folder[.posixPermissions] as? Int == 0o700)
    // The news of a later text names only that one: the person knows the first.
    try meeting.addItem()
    try meeting.waitForFile(true)
    try meeting.deleteItem()
    try next.waitFor("the second") { newsCount(next) == 2 }
    let copies = next.messages.filter { $0["params"]?["kind"] == "recovered" }.map { $0["params"]?["copy"] ?? .null }
    #expect(copies == ["a copy of \"Drinks\"", "a copy of \"Drinks\""])
  }

  @Test func wordsThatWereRefusedRightBeforeAKillAreToldAfterTheRestart() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let shared = try ana.process.request("notes/share", ["id": .string(ana.id), "access": "read"])
    let ben = try JoinedNote("Ben", ticket: try #require(shared["ticket"]?.stringValue))
    ben.client.edit(0..<0, with: "Ben's words ")
    ben.client.flush()
    try ben.process.waitFor("the words are kept") {
      try ben.process.request("notes/recovered")["texts"] != []
    }
    try ben.process.kill()
    let isTold = ben.process.messages.contains { $0["params"]?["kind"] == "refused" }
    let next = try ben.user.startInitialized()
    guard !isTold else { return }
    let path = try #require(try news(next)["recovered"]?.stringValue)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "Ben's words milk\n")
  }

  @Test func theTextOfAnItemThatAnotherDeletesIsToldThoughNoEditorHasItOpen() throws {
    let meeting = try Meeting()
    let ben = try meeting.user.startInitialized()
    try meeting.deleteItem()
    let event = try news(ben)
    #expect(event["copy"] == "a copy of \"Drinks\"")
    #expect(try String(contentsOfFile: event["recovered"]?.stringValue ?? "", encoding: .utf8) == "tea\n")
  }

  /// Ana's meeting, which Ben has joined before he closed his editor, and the file of an item.
  private final class Meeting {
    let ana: NotesProcess
    let user: NotesUser
    let folder: String
    private let id: JSONValue
    private var item: JSONValue = .null

    init() throws {
      ana = try NotesUser("Ana").startInitialized()
      user = try NotesUser("Ben")
      folder = user.notes + "/Weekly"
      id = try ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])["id"] ?? .null
      try addItem()
      let ben = try user.startInitialized()
      try ben.request("notes/join", ["ticket": try ana.request("notes/share", ["id": id])["ticket"] ?? .null])
      try waitForFile(true)
      try ben.shutdown()
    }

    func addItem() throws {
      item = try ana.request("notes/addItem", ["id": id, "title": "Drinks", "text": "tea\n"])["uri"] ?? .null
    }

    func deleteItem() throws { try ana.request("notes/delete", ["uri": item]) }

    func waitForFile(_ isThere: Bool) throws {
      // A service that was killed while it removed the item may still know its name: the next item's file then has
      // another name.
      try ana.waitFor("the item's file") {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder)) ?? []
        return names.contains { $0.hasPrefix("Drinks") } == isThere
      }
    }
  }
}
