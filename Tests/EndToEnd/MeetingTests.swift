import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Meetings: documents of which each agenda item is a buffer and a file of its own.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct MeetingTests {
  private func read(_ path: String?) -> String? { path.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } }

  private func items(_ process: NotesProcess, _ id: String) throws -> [JSONValue] {
    try process.request("notes/items", ["id": .string(id)])["items"]?.arrayValue ?? []
  }

  /// A meeting `Weekly` with the items `Tea` ("green\n") and `Cake` ("apple\n").
  private struct Meeting {
    let user: NotesUser
    let process: NotesProcess
    let id: String
    var items: [JSONValue]

    init(_ name: String = "Ana") throws {
      user = try NotesUser(name)
      process = try user.startInitialized()
      let made = try process.request("notes/create", ["title": "Weekly", "kind": "meeting"])
      id = try #require(made["id"]?.stringValue)
      for (title, text) in [("Tea", "green\n"), ("Cake", "apple\n")] {
        try process.request("notes/addItem", ["id": .string(id), "title": .string(title), "text": .string(text)])
      }
      items = try process.request("notes/items", ["id": .string(id)])["items"]?.arrayValue ?? []
    }

    func client(_ index: Int) throws -> ModelClient {
      var place = try #require(items[index].objectValue)
      place["id"] = .string(id)
      return try ModelClient(process, note: .object(place))
    }
  }

  @Test func aMeetingIsAFolderWithAFileForEachItem() throws {
    let meeting = try Meeting()
    #expect(meeting.items.map { $0["title"]?.stringValue } == ["Tea", "Cake"])
    #expect(meeting.items.first?["path"]?.stringValue == meeting.user.notes + "/Weekly/Tea.md")
    #expect(meeting.items.map { read($0["path"]?.stringValue) } == ["green\n", "apple\n"])
    let list = try meeting.process.request("notes/list")["notes"]
    #expect(list?.arrayValue?.count == 1)
    #expect(list?[0]?["title"] == "Weekly")
    #expect(list?[0]?["folder"]?.stringValue == meeting.user.notes + "/Weekly")
    // What another program writes to an item's file goes to that item.
    try meeting.process.shutdown()
    let path = try #require(meeting.items[1]["path"]?.stringValue)
    try "apple\nplum\n".write(toFile: path, atomically: true, encoding: .utf8)
    let again = try meeting.user.startInitialized()
    let opened = try again.request("notes/open", ["title": "Weekly"])
    #expect(opened["items"]?.arrayValue?.count == 2)
    #expect(opened["path"] == opened["items"]?[0]?["path"])
    try again.shutdown()
    #expect(try meeting.user.storedText(of: meeting.id).contains("## Cake\n\napple\nplum\n"))
  }

  @Test func twoItemsOpenAtATimeAreTwoTexts() throws {
    let meeting = try Meeting()
    let (tea, cake) = (try meeting.client(0), try meeting.client(1))
    tea.edit(0..<0, with: "hot ")
    cake.edit(0..<0, with: "fresh ")
    try ModelClient.waitForConvergence([tea])
    try ModelClient.waitForConvergence([cake])
    tea.close()
    cake.edit(0..<0, with: "very ")
    try ModelClient.waitForConvergence([cake])
    try meeting.process.waitFor("the closed item's file") {
      read(meeting.items[0]["path"]?.stringValue) == "hot green\n"
    }
    #expect(read(meeting.items[1]["path"]?.stringValue) == "apple\n", "an open item's file is the editor's")
    expectNoComplaints(tea, cake)
  }

  @Test func itemsAreRenamedMovedAndDeleted() throws {
    let meeting = try Meeting()
    let (tea, cake) = (try meeting.client(0), try meeting.client(1))
    cake.edit(0..<0, with: "fresh ")
    cake.flush()
    try meeting.process.request("notes/moveItem", ["uri": .string(cake.uri), "position": 0])
    cake.edit(0..<0, with: "very ")
    try ModelClient.waitForConvergence([cake])
    #expect(cake.text.string == "very fresh apple\n")
    #expect(try items(meeting.process, meeting.id).map { $0["title"]?.stringValue } == ["Cake", "Tea"])
    try meeting.process.request("notes/rename", ["uri": .string(tea.uri), "title": "Coffee"])
    try meeting.process.request("notes/delete", ["uri": .string(cake.uri)])
    tea.close()
    try meeting.process.waitFor("the file under its new name") {
      read(meeting.user.notes + "/Weekly/Coffee.md") == "green\n"
    }
    try meeting.process.waitFor("the deleted item's file to go") {
      try items(meeting.process, meeting.id).count == 1
        && !FileManager.default.fileExists(atPath: meeting.user.notes + "/Weekly/Cake.md")
    }
    // What was being written there is not lost.
    let texts = try meeting.process.request("notes/recovered")["texts"]?.arrayValue ?? []
    #expect(texts.contains { read($0["path"]?.stringValue) == "very fresh apple\n" })
    expectNoComplaints(tea, cake)
  }

  @Test func aMeetingIsDeletedAndComesBackWhole() throws {
    let meeting = try Meeting()
    try meeting.process.request("notes/delete", ["id": .string(meeting.id)])
    #expect(meeting.items.allSatisfy { read($0["path"]?.stringValue) == nil })
    let back = try meeting.process.request("notes/undelete", ["id": .string(meeting.id)])
    #expect(back["items"]?.arrayValue?.map { read($0["path"]?.stringValue) } == ["green\n", "apple\n"])
  }

  @Test func whatAPeerDoesToTheAgendaArrives() throws {
    let ana = try Meeting()
    let shared = try ana.process.request("notes/share", ["id": .string(ana.id)])
    let bob = try NotesUser("Bob")
    let process = try bob.startInitialized()
    let joined = try process.request("notes/join", ["ticket": shared["ticket"] ?? .null])
    #expect(joined["items"]?.arrayValue?.count == 2)
    let cake = try ana.client(1)
    try process.request("notes/addItem", ["id": .string(ana.id), "title": "Pie", "position": 0])
    try process.request("notes/moveItem", ["uri": joined["items"]?[1]?["uri"] ?? .null, "position": 0])
    try ana.process.waitFor("Bob's agenda") {
      try items(ana.process, ana.id).map { $0["title"]?.stringValue } == ["Cake", "Pie", "Tea"]
    }
    cake.edit(0..<0, with: "fresh ")
    cake.flush()
    try process.waitFor("the text in the moved item") {
      read(joined["items"]?[1]?["path"]?.stringValue) == "fresh apple\n"
    }
    try ana.process.waitFor("a file for Bob's item") { read(ana.user.notes + "/Weekly/Pie.md") == "" }
    try process.request("notes/delete", ["uri": joined["items"]?[0]?["uri"] ?? .null])
    try ana.process.waitFor("the end of Tea") { read(ana.user.notes + "/Weekly/Tea.md") == nil }
    expectNoComplaints(cake)
  }

  /// Made by the reference core to the schema, with the id as a UUID under tag 37.
  @Test func aFileOfTheReferenceCoreOpens() throws {
    let python =
      ProcessInfo.processInfo.environment["NOTES_TEST_PYTHON"] ?? NotesBinary.packageRoot + "/.build-venv/bin/python"
    let user = try NotesUser("Ana")
    let path = user.directory.file("weekly.meetingnotes")
    let script = """
      import sys, uuid, struct
      from automerge import core
      document = core.Document()
      with document.transaction() as t:
          text = core.ScalarType.Str
          t.put(core.ROOT, "title", text, "Weekly")
          people = t.put_object(core.ROOT, "attendees", core.ObjType.List)
          t.insert(people, 0, text, "Ana")
          agendas = t.put_object(core.ROOT, "agendas", core.ObjType.List)
          for index, (title, words) in enumerate([("Tea", "green"), ("Cake", "apple"), ("", "")]):
              item = t.insert_object(agendas, index, core.ObjType.Map)
              t.put(item, "id", text, str(uuid.UUID(int=index + 1)))
              t.put(item, "title", text, title)
              discussion = t.put_object(item, "discussion", core.ObjType.Text)
              for place, character in enumerate(words):
                  t.insert(discussion, place, text, character)
      data = document.save()
      id = bytes(range(16))
      envelope = b"\\xa2\\x62id\\xd8\\x25\\x50" + id + b"\\x64data\\x5a" + struct.pack(">I", len(data)) + data
      open(sys.argv[1], "wb").write(envelope)
      """
    let made = try ChildProcess.run([python, "-c", script, path])
    guard made.exit == .code(0) else {
      print("SKIPPING a file of the reference core: \(python) has no automerge==1.0.0rc1.")
      return
    }
    let process = try user.startInitialized()
    let note = try process.request("notes/import", ["path": .string(path)])
    let items = try #require(note["items"]?.arrayValue)
    #expect(items.map { $0["title"]?.stringValue } == ["Tea", "Cake", ""])
    #expect(items.map { read($0["path"]?.stringValue) } == ["green", "apple", ""])
    var place = try #require(items[0].objectValue)
    place["id"] = note["id"]
    let tea = try ModelClient(process, note: .object(place))
    tea.edit(0..<0, with: "hot ")
    try ModelClient.waitForConvergence([tea])
    // And back to the reference core.
    let out = user.directory.file("out.meetingnotes")
    try process.request("notes/export", ["id": note["id"] ?? .null, "path": .string(out)])
    let reader = """
      import sys
      from automerge import core
      bytes = open(sys.argv[1], "rb").read()
      document = core.Document.load(bytes[bytes.index(b"\\x85\\x6f\\x4a\\x83"):])
      agendas = document.get(core.ROOT, "agendas")[1]
      item = document.get(agendas, 0)[1]
      print(document.text(document.get(item, "discussion")[1]), end="")
      """
    let seen = try ChildProcess.run([python, "-c", reader, out])
    #expect(String(decoding: seen.output, as: UTF8.self) == "hot green", "\(seen)")
    expectNoComplaints(tea)
  }
}
