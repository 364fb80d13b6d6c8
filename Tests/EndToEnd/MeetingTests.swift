import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Meetings: documents in which each agenda item has a buffer and a file of its own.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct MeetingTests {}

extension MeetingTests {
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
    // Words that another program writes to an item's file become part of that item.
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

  /// The end of a text is the same cursor in every text: a caret there, or a pointed place, used to appear in all items
  /// at once.
  @Test func aCaretAtTheEndOfAnItemIsInNoOtherOne() throws {
    let ana = try Meeting()
    let clients = try [ana.client(0), ana.client(1)]
    let shared = try ana.process.request("notes/share", ["id": .string(ana.id)])
    let user = try NotesUser("Ben")
    let ben = try user.startInitialized()
    var cake = try #require(
      try ben.request("notes/join", ["ticket": shared["ticket"] ?? .null])["items"]?[1]?.objectValue)
    cake["id"] = .string(ana.id)
    let client = try ModelClient(ben, note: .object(cake))
    let end: JSONValue = ["line": 1, "character": 0]
    let here: JSONValue = ["start": end, "end": end]
    client.sendCursor(at: 6)
    try ana.process.waitFor("Ben's caret") { clients[1].peers.first?["ranges"]?[0] == here }
    #expect(clients[0].peers.first?["name"] == "Ben")
    #expect(clients[0].peers.first?["ranges"]?.arrayValue == [])
    for (name, index) in [("Ben", 1), ("Cleo", 0)] {
      let place = try ana.process.request("notes/open", ["id": .string(ana.id), "near": .string(name)])
      #expect(place["uri"]?.stringValue == clients[index].uri, "\(name)")
    }

    try ben.request(
      "notes/point",
      ["uri": .string(client.uri), "version": JSONValue(client.version), "rev": JSONValue(client.rev), "range": here])
    let told = try ana.process.waitForNotification("notes/event") { $0["kind"] == "pointed" }
    client.edit(0..<0, with: "fresh ")
    client.flush()
    try ana.process.waitFor("what Ben typed") { clients[1].text.string == "fresh apple\n" }
    let pointed = ana.process.messages.filter { $0["params"]?["kind"] == "pointed" }
    #expect(pointed.map { $0["params"]?["uri"] } == [.string(clients[1].uri)], "\(told)")
    expectNoComplaints(clients[0], clients[1], client)
    try ben.shutdown()
  }

  @Test func aListOfADeletedMeetingSaysThatItIsDeleted() throws {
    let meeting = try Meeting()
    try meeting.process.request("notes/delete", ["id": .string(meeting.id)])
    let list = try meeting.process.request("notes/items", ["id": .string(meeting.id), "width": 80])
    #expect(list["lines"] == ["\"Weekly\" is deleted. :NotesUndelete restores it"])
    #expect(list["rows"] == [[:]])
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
    // The words in the open item are not lost.
    let texts = try meeting.process.request("notes/recovered")["texts"]?.arrayValue ?? []
    #expect(texts.contains { read($0["path"]?.stringValue) == "very fresh apple\n" })
    expectNoComplaints(tea, cake)
  }

  @Test func theFolderFollowsTheTitleWhenNoItemIsOpen() throws {
    let meeting = try Meeting()
    let cake = try meeting.client(1)
    try meeting.process.request("notes/rename", ["id": .string(meeting.id), "title": "Monday"])
    #expect(read(meeting.user.notes + "/Weekly/Tea.md") == "green\n", "the folder of an open item stays")
    cake.edit(0..<0, with: "fresh ")
    cake.close()
    try meeting.process.waitFor("the folder under its new name") {
      read(meeting.user.notes + "/Monday/Cake.md") == "fresh apple\n"
    }
    #expect(read(meeting.user.notes + "/Monday/Tea.md") == "green\n")
    #expect(!FileManager.default.fileExists(atPath: meeting.user.notes + "/Weekly"))
    try meeting.process.waitFor("the items' places") {
      try items(meeting.process, meeting.id).map { $0["path"]?.stringValue }
        == ["Tea.md", "Cake.md"].map {
          meeting.user.notes + "/Monday/" + $0
        }
    }
    // The service leaves an existing folder of that name alone.
    let taken = meeting.user.notes + "/Friday"
    try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: true)
    let place = try meeting.process.request("notes/rename", ["id": .string(meeting.id), "title": "Friday"])
    #expect(place["folder"]?.stringValue == taken + " 2")
    #expect(try FileManager.default.contentsOfDirectory(atPath: taken).isEmpty)
    #expect(read(taken + " 2/Tea.md") == "green\n")
    // A process that starts later finds the files there, and other programs' words in them.
    try meeting.process.shutdown()
    try "black\n".write(toFile: taken + " 2/Tea.md", atomically: true, encoding: .utf8)
    let again = try meeting.user.startInitialized()
    try again.request("notes/open", ["title": "Friday"])
    try again.shutdown()
    #expect(try meeting.user.storedText(of: meeting.id).contains("## Tea\n\nblack\n"))
    expectNoComplaints(cake)
  }

  /// Both people type into an item while one of them moves it.
  @Test(arguments: [31, 32] as [UInt64]) func wordsTypedWhileTheItemIsMovedGoWithIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let ana = try Meeting()
    let shared = try ana.process.request("notes/share", ["id": .string(ana.id)])
    let bob = try NotesUser("Bob").startInitialized()
    var joined = try #require(
      try bob.request("notes/join", ["ticket": shared["ticket"] ?? .null])["items"]?[1]?.objectValue)
    joined["id"] = .string(ana.id)
    let clients = [try ana.client(1), try ModelClient(bob, note: .object(joined))]
    var words: [String] = []
    var requests: [(NotesProcess, Int)] = []
    for round in 0..<60 {
      for (index, client) in clients.enumerated() {
        let word = "<\(index).\(round)>"
        let place = client.text.scalarStart(at: Int.random(in: 0...client.text.bytes.count, using: &random))
        // Not inside another word, which it would split.
        let start = client.text.bytes[..<place].lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? 0
        client.edit(start..<start, with: word)
        client.flush()
        words.append(word)
        // Only one person moves it: two moves at the same moment would make two copies.
        if index == 1, Int.random(in: 0..<6, using: &random) == 0 {
          let move = client.process.startRequest(
            "notes/moveItem", ["uri": .string(client.uri), "position": JSONValue(round % 2)])
          requests.append((client.process, move))
        }
      }
      for client in clients { try client.process.collect() }
    }
    try ModelClient.waitForConvergence(clients)
    let text = clients[0].text.string
    for word in words {
      #expect(text.components(separatedBy: word).count == 2, "\(word) is there once; seed \(seed)")
    }
    #expect(requests.count > 3, "seed \(seed)")
    #expect(try items(ana.process, ana.id).count == 2)
    expectNoComplaints(clients[0], clients[1], seed: seed)
    for client in clients { try client.process.shutdown() }
    #expect(try ana.user.storedText(of: ana.id).contains(text))
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

  /// The reference core makes the file by the schema, with the id as a UUID under tag 37.
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
