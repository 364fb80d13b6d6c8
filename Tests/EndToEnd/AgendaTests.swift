import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The agenda of a meeting, while several people reorder it.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct AgendaTests {
  private let ana: NotesUser
  private let process: NotesProcess
  private let id: String

  init() throws {
    ana = try NotesUser("Ana")
    process = try ana.startInitialized()
    let made = try process.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    id = try #require(made["id"]?.stringValue)
  }
}

extension AgendaTests {
  private func add(_ titles: String...) throws {
    for title in titles {
      try process.request(
        "notes/addItem", ["id": .string(id), "title": .string(title), "text": .string(title.lowercased() + "\n")])
    }
  }

  private func items(_ process: NotesProcess) throws -> [JSONValue] {
    try process.request("notes/items", ["id": .string(id)])["items"]?.arrayValue ?? []
  }

  private func titles(_ process: NotesProcess) throws -> [String?] {
    try items(process).map { $0["title"]?.stringValue }
  }

  private func listed(_ process: NotesProcess, query: String? = nil) throws -> JSONValue {
    let list = try process.request("notes/list", .object(present: ["query": query.map(JSONValue.string)]))["notes"]
    return try #require(list?.arrayValue?.first { $0["id"]?.stringValue == id })
  }

  private func client(_ process: NotesProcess, _ title: String) throws -> ModelClient {
    var place = try #require(try items(process).first { $0["title"]?.stringValue == title }?.objectValue)
    place["id"] = .string(id)
    return try ModelClient(process, note: .object(place))
  }

  /// Bob's process, in the same meeting.
  private func join(as user: NotesUser) throws -> NotesProcess {
    let shared = try process.request("notes/share", ["id": .string(id)])
    let other = try user.startInitialized()
    try other.request("notes/join", ["ticket": shared["ticket"] ?? .null])
    return other
  }

  // MARK: Moving at the same moment

  /// Both people move the item and type into it at the same time, again and again.
  private func moveAtTheSameMoment(_ other: NotesProcess, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let clients = [try client(process, "Cake"), try client(other, "Cake")]
    var words: [String] = []
    for round in 0..<12 {
      for (index, client) in clients.enumerated() {
        for part in 0..<3 {
          let word = "<\(index).\(round).\(part)>"
          let place = client.text.scalarStart(at: Int.random(in: 0...client.text.bytes.count, using: &random))
          let start = client.text.bytes[..<place].lastIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? 0
          client.edit(start..<start, with: word)
          client.flush()
          words.append(word)
          guard part == 1 else { continue }
          _ = client.process.startRequest(
            "notes/moveItem", ["uri": .string(client.uri), "position": JSONValue((round + index) % 3)])
        }
      }
      if round.isMultiple(of: 2) { for client in clients { try client.process.collect() } }
    }
    try ModelClient.waitForConvergence(clients)
    try process.waitFor("one cake; seed \(seed)") {
      try items(process).count == 3 && items(other).count == 3 && titles(process) == titles(other)
    }
    let text = clients[0].text.string
    // No letter is lost, and none appears twice. A word that is brought may end up in the middle of another one.
    let expected = "cake\n" + words.joined()
    #expect(text.utf8.sorted() == expected.utf8.sorted(), "seed \(seed): \(text)")
    expectNoComplaints(clients[0], clients[1], seed: seed)
    for client in clients { try client.process.shutdown() }
    let stored = try ana.storedText(of: id)
    #expect(stored.contains(text))
    #expect(stored.components(separatedBy: "## Cake").count == 2, "seed \(seed)")
  }

  @Test(arguments: [41, 42, 43] as [UInt64]) func anItemThatTwoPeopleMoveAtOnceStaysOne(seed: UInt64) throws {
    try add("Tea", "Cake", "Pie")
    try moveAtTheSameMoment(try join(as: try NotesUser("Bob")), seed: seed)
  }

  @Test(arguments: [51, 52] as [UInt64]) func anItemThatTwoEditorsOfOnePersonMoveAtOnceStaysOne(seed: UInt64) throws {
    try add("Tea", "Cake", "Pie")
    try moveAtTheSameMoment(try ana.startInitialized(), seed: seed)
  }

  @Test func aNameGivenWhileAnotherPersonMovesTheItemStays() throws {
    try add("Tea", "Cake", "Pie")
    let other = try join(as: try NotesUser("Bob"))
    // Found by its title, not by its file, whose name follows half a second later.
    let cake = try #require(try items(other)[1]["item"])
    for round in 0..<6 {
      _ = process.startRequest(
        "notes/rename", ["id": .string(id), "item": cake, "title": .string("Cake \(round)")])
      _ = other.startRequest(
        "notes/moveItem", ["id": .string(id), "item": cake, "position": JSONValue(round % 3)])
      try process.waitFor("the name and one item in round \(round)") {
        try titles(process).sorted { $0 ?? "" < $1 ?? "" } == ["Cake \(round)", "Pie", "Tea"]
          && titles(process) == titles(other)
      }
    }
  }

  // MARK: Order and names

  @Test func itemsAreListedInTheAgendasOrderEverywhere() throws {
    let names = ["Zebra", "Apple", "Mango", "Kiwi", "Banana", "Cherry", "Date"]
    for name in names { try add(name) }
    #expect(try titles(process) == names)
    #expect(try listed(process)["items"]?.arrayValue?.map { $0["title"]?.stringValue } == names)
    let other = try join(as: try NotesUser("Bob"))
    #expect(try listed(other)["items"]?.arrayValue?.map { $0["title"]?.stringValue } == names)
    let moved = try #require(try items(other)[6]["uri"])
    try other.request("notes/moveItem", ["uri": moved, "position": 0])
    let order = ["Date"] + names.dropLast()
    try process.waitFor("the order after Bob's move") {
      try listed(process)["items"]?.arrayValue?.map { $0["title"]?.stringValue } == order
    }
    try process.shutdown()
    let again = try ana.startInitialized()
    #expect(try listed(again)["items"]?.arrayValue?.map { $0["title"]?.stringValue } == order, "before it is opened")
  }

  @Test func aPeersNameForAnOpenItemIsSeen() throws {
    try add("Tea", "Cake")
    let other = try join(as: try NotesUser("Bob"))
    let cake = try client(process, "Cake")
    let theirs = try #require(try items(other)[1]["uri"])
    var told: [JSONValue] = []
    let before = process.onNotification
    process.onNotification = { method, params in
      if method == "notes/event", params["kind"] == "renamed" { told.append(params) }
      before(method, params)
    }
    try other.request("notes/rename", ["uri": theirs, "title": "Torte"])
    try process.waitFor("the new name in the list") {
      try listed(process)["items"]?.arrayValue?.map { $0["title"]?.stringValue } == ["Tea", "Torte"]
    }
    try process.waitFor("word of it") {
      told.contains { $0["title"] == "Torte" && $0["uri"]?.stringValue == cake.uri && $0["item"] != nil }
    }
    #expect(FileManager.default.fileExists(atPath: ana.notes + "/Weekly/Cake.md"), "an open item's file stays")
    cake.edit(0..<0, with: "fresh ")
    cake.close()
    try process.waitFor("the file under its new name") {
      (try? String(contentsOfFile: ana.notes + "/Weekly/Torte.md", encoding: .utf8)) == "fresh cake\n"
    }
  }

  @Test func historyAndBlameOfAnItemSayWhoWroteIt() throws {
    try add("Tea", "Cake")
    let other = try join(as: try NotesUser("Bob"))
    let (mine, theirs) = (try client(process, "Cake"), try client(other, "Cake"))
    theirs.edit(0..<0, with: "fresh ")
    theirs.flush()
    try ModelClient.waitForConvergence([mine, theirs])
    for process in [process, other] {
      let target = process === other ? theirs.uri : mine.uri
      let history = try process.request("notes/history", ["uri": .string(target)])
      #expect(Set(history["changes"]?.arrayValue?.map { $0["author"]?.stringValue } ?? []) == ["Ana", "Bob"])
      let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 1, "character": 0]]
      let blame = try process.request("notes/blame", ["uri": .string(target), "range": range])
      #expect(blame["spans"]?.arrayValue?.map { $0["author"]?.stringValue } == ["Bob", "Ana"])
    }
  }

  // MARK: Many items

  /// Imports a meeting with this many items, `Point 1` with `word1` and so on.
  private func takeIn(_ count: Int) throws -> JSONValue {
    let path = ana.directory.file("\(count).json")
    let agendas: [JSONValue] = (1...count).map {
      ["id": .string("\($0)"), "title": .string("Point \($0)"), "discussion": .string("word\($0)\n")]
    }
    let content: JSONValue = ["title": .string("Points \(count)"), "attendees": [], "agendas": .array(agendas)]
    try Data(content.encoded()).write(to: URL(fileURLWithPath: path))
    return try process.request("notes/import", ["path": .string(path)])
  }

  private func files(in folder: JSONValue?) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: try #require(folder?.stringValue))
  }

  @Test func itemsBeyondTheHundredthHaveAFileWhenTheyAreOpened() throws {
    let made = try takeIn(130)
    let id = try #require(made["id"]?.stringValue)
    #expect(try files(in: made["folder"]).count == 100)
    let items = try process.request("notes/items", ["id": .string(id)])["items"]?.arrayValue ?? []
    #expect(items.map { $0["title"]?.stringValue } == (1...130).map { "Point \($0)" })
    #expect(items[99]["path"] != nil && items[100]["path"] == nil)
    let opened = try process.request("notes/open", ["id": .string(id), "item": "130"])
    let client = try ModelClient(process, note: opened)
    #expect(client.text.string == "word130\n")
    client.edit(0..<0, with: "last ")
    try ModelClient.waitForConvergence([client])
    // The search also finds an item without a file, and makes its file.
    let found = try process.request("notes/list", ["query": "word125"])["notes"]?[0]?["match"]
    #expect(found?["text"] == "word125")
    #expect(found?["path"]?.stringValue.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } == "word125\n")
    #expect(try files(in: made["folder"]).count == 102)
    // Other people receive all items, and their services make no more files than that either.
    let shared = try process.request("notes/share", ["id": .string(id)])
    let other = try NotesUser("Bob").startInitialized()
    let joined = try other.request("notes/join", ["ticket": shared["ticket"] ?? .null])
    #expect(joined["items"]?.arrayValue?.count == 130)
    #expect(try files(in: joined["folder"]).count == 100)
    expectNoComplaints(client)
  }

  /// Four times the items take four times the work, not sixteen times.
  @Test func theWorkGrowsWithTheNumberOfItemsOnly() throws {
    func work(_ action: () throws -> Void) throws -> Double {
      let before = try #require(ProcessorTime.of(processId: process.child.processId))
      try action()
      return try #require(ProcessorTime.of(processId: process.child.processId)) - before
    }
    _ = try takeIn(100)
    let few = try work { _ = try takeIn(101) }
    let many = try work { _ = try takeIn(404) }
    #expect(many < 7 * few, "\(few) s and \(many) s of processor time")
  }
}
