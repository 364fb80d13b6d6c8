import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Several editors of one person, each with a service of its own, on one store.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct SiblingProcessTests {}

extension SiblingProcessTests {
  private func listed(_ id: String, by process: NotesProcess) throws -> JSONValue {
    var found: JSONValue?
    try process.waitFor("the note in the list") {
      let notes = try process.request("notes/list")["notes"]?.arrayValue ?? []
      found = notes.first { $0["id"]?.stringValue == id && $0["path"]?.stringValue != nil }
      return found != nil
    }
    return found ?? .null
  }

  @Test func twoEditorsOfOnePersonWriteTheSameNote() throws {
    let note = try OpenNote(text: "milk\n")
    let second = try note.user.startInitialized()
    let client = try ModelClient(second, note: try listed(note.id, by: second))
    try ModelClient.waitForConvergence([note.client, client])
    // The status does not report an error because the first process has the network.
    #expect(try second.request("notes/status", ["uri": .string(client.uri)])["network"] == "on")
    note.client.edit(0..<0, with: "first ")
    client.edit(0..<0, with: "second ")
    note.client.flush()
    client.flush()
    try ModelClient.waitForConvergence([note.client, client])
    #expect(client.text.string.contains("first ") && client.text.string.contains("second "))
    expectNoComplaints(note.client, client)
    #expect(try note.process.shutdown() == .code(0))
    #expect(try second.shutdown() == .code(0))
    #expect(try note.user.storedText(of: note.id) == client.text.string)
  }

  @Test func aNoteThatTheFirstIsJustJoiningIsFoundByTheSecond() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let ben = try NotesUser("Ben")
    let first = try ben.startInitialized()
    let second = try ben.startInitialized()
    let joining = first.startRequest("notes/join", ["ticket": .string(try ana.ticket())])
    let opening = second.startRequest("notes/open", ["id": .string(ana.id)])
    let opened = try second.result(of: opening)
    #expect(opened["path"]?.stringValue?.isEmpty == false)
    #expect(try first.result(of: joining)["id"]?.stringValue == ana.id)
    let client = try ModelClient(second, note: opened)
    client.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([ana.client, client], checked: false)
    #expect(ana.client.text.string == "oat milk\n")
  }

  @Test func theOtherProcessesGoOnWhenTheFirstIsKilled() throws {
    let note = try OpenNote(text: "start\n")
    let clients = try (0..<2).map { _ in
      let process = try note.user.startInitialized()
      return try ModelClient(process, note: try listed(note.id, by: process))
    }
    try ModelClient.waitForConvergence([note.client] + clients)
    // The first has the network, and the others are connected to it.
    try note.process.kill()
    let start = ContinuousClock.now
    clients[0].edit(0..<0, with: "after ")
    clients[0].flush()
    try NotesProcess.wait(for: "the word at the other", of: clients.map(\.process)) {
      clients[1].text.string == "after start\n"
    }
    let together = ContinuousClock.now - start
    try NotesProcess.wait(for: "the network", of: clients.map(\.process)) {
      try clients.contains { try $0.process.request("notes/status")["network"]?.stringValue == "on" }
    }
    print(
      "killed the first of three: the others talk again after \(together), network after \(ContinuousClock.now - start)"
    )
    try ModelClient.waitForConvergence(clients)
    expectNoComplaints(clients[0], clients[1])
  }

  @Test func aFileThatIsOpenInOneEditorIsNotWrittenByAnother() throws {
    let note = try OpenNote(text: "one\n")
    let second = try note.user.startInitialized()
    let record = try listed(note.id, by: second)
    let path = try #require(record["path"]?.stringValue)
    note.client.edit(0..<0, with: "zero ")
    note.client.flush()
    try ModelClient.waitForConvergence([note.client])
    // Enough time for a process that would write it by mistake.
    try second.request("notes/open", ["id": .string(note.id)])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\n")
    note.client.close()
    try NotesProcess.wait(for: "the file to be written", of: [note.process, second]) {
      try String(contentsOfFile: path, encoding: .utf8) == "zero one\n"
    }
  }

  /// `NOTES_ROUNDS` makes the test longer.
  @Test func fourProcessesTypeIntoOneNote() throws {
    let rounds = numbers(fromEnvironment: "NOTES_ROUNDS")?.first ?? 40
    let note = try OpenNote(text: "x\n")
    var clients = [note.client]
    for _ in 0..<3 {
      let process = try note.user.startInitialized()
      clients.append(try ModelClient(process, note: try listed(note.id, by: process)))
    }
    try ModelClient.waitForConvergence(clients)
    var random = SeededGenerator(seed: 71)
    var words = 0
    for round in 0..<rounds {
      for (index, client) in clients.enumerated() {
        let offset = Int.random(in: 0...client.text.bytes.count, using: &random)
        client.edit(offset..<offset, with: "<\(index).\(round)>")
        client.flush()
        words += 1
      }
      for client in clients { try client.process.collect() }
    }
    // All of it was sent at once, and a debug build is slow at finding out what each peer lacks.
    try ModelClient.waitForConvergence(clients)
    let text = clients[0].text.string
    #expect(clients.allSatisfy { $0.text.string == text }, "seed \(random.seed)")
    #expect(text.utf8.count { $0 == UInt8(ascii: ">") } == words, "seed \(random.seed)")
    for client in clients {
      try client.process.waitFor("everything is stored") {
        try client.process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
      }
    }
    for client in clients { try client.process.kill() }
    #expect(try note.user.storedText(of: note.id) == text, "seed \(random.seed)")
    expectNoComplaints(clients[0], clients[1], clients[2], clients[3])
  }
}
