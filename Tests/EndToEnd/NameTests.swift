import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A person has one name: for peers, in status and invitations, in every process, from the first moment, and after a
/// restart.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct NameTests {}

extension NameTests {
  /// A person whose login is "login", and whose services get no name on the command line.
  private struct Person {
    let user: NotesUser

    init(_ name: String) throws { user = try NotesUser(name) }

    /// - Parameter name: the name in the editor's settings; nil if there is none.
    func start(userName name: String?) throws -> NotesProcess {
      let child = try ChildProcess(
        [
          NotesBinary.path ?? "", "--home", user.home, "--notes", user.notes, "--listen", "127.0.0.1:0",
          "--no-discovery", "--log", user.logPath,
        ], environment: ["USER": "login", "LOGNAME": "login", "NOTES_NAME": ""])
      let process = NotesProcess(child, of: user)
      let notes: JSONValue = .object(present: [
        "protocol": 1, "client": "harness", "userName": name.map(JSONValue.string),
      ])
      try process.request(
        "initialize", ["processId": .null, "capabilities": [:], "initializationOptions": ["notes": notes]])
      process.notify("initialized", [:])
      return process
    }
  }

  private func names(in process: NotesProcess) throws -> [String] {
    (try process.request("notes/peers")["peers"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
  }

  private func ownName(in process: NotesProcess) throws -> String? {
    try process.request("notes/peers")["self"]?["name"]?.stringValue
  }

  private func waitFor(_ name: String, in process: NotesProcess) throws {
    try process.waitFor("the name \(name)") { try names(in: process) == [name] }
  }

  @Test func theNameSetInTheEditorIsTheNameForEveryoneFromTheFirstMoment() throws {
    let (ana, ben) = (try Person("Ana"), try Person("Ben"))
    let host = try ana.start(userName: "Ana")
    let guest = try ben.start(userName: "Ben")
    var seen: Set<String> = []
    for process in [host, guest] {
      process.onNotification = { _, params in
        if let name = params["name"]?.stringValue { seen.insert(name) }
        for peer in params["peers"]?.arrayValue ?? [] { peer["name"]?.stringValue.map { _ = seen.insert($0) } }
      }
    }
    let note = try host.request("notes/create", ["title": "Tea"])
    let ticket = try host.request("notes/share", ["id": note["id"] ?? .null])["ticket"] ?? .null
    let joined = try guest.request("notes/join", ["ticket": ticket])
    _ = try ModelClient(host, note: note)
    _ = try ModelClient(guest, note: joined)
    try waitFor("Ben", in: host)
    try waitFor("Ana", in: guest)
    try host.waitFor("Ben in the status") {
      try host.request("notes/status", ["uri": note["uri"] ?? .null])["peers"]?[0]?["name"] == "Ben"
    }
    let second = try host.request("notes/create", ["title": "Coffee"])
    _ = try host.request("notes/invite", ["id": second["id"] ?? .null, "peer": "ben"])
    try guest.waitFor("the invitation") {
      try guest.request("notes/invitations")["invitations"]?[0]?["from"]?["name"] == "Ana"
    }
    #expect(!seen.contains("login"), "\(seen)")
  }

  @Test func theNameIsKeptAndTheLastOneGivenCounts() throws {
    let ana = try Person("Ana")
    var process = try ana.start(userName: nil)
    #expect(try ownName(in: process) == "login")
    _ = try process.shutdown()
    process = try ana.start(userName: "Ana")
    #expect(try ownName(in: process) == "Ana")
    _ = try process.shutdown()
    // An editor without a setting, and a command.
    process = try ana.start(userName: nil)
    #expect(try ownName(in: process) == "Ana")
    // The person has chosen this name: the old setting does not replace it.
    _ = try process.request("notes/setName", ["name": "Zoe"])
    #expect(try ownName(in: process) == "Zoe")
    _ = try process.shutdown()
    process = try ana.start(userName: "Ana")
    #expect(try ownName(in: process) == "Zoe")
    _ = try process.shutdown()
    // A new setting replaces it.
    process = try ana.start(userName: "Anna")
    #expect(try ownName(in: process) == "Anna")
    _ = try process.shutdown()
  }

  @Test func theProcessWithTheNetworkTellsANameThatAnotherOneWasGiven() throws {
    let (ana, ben) = (try Person("Ana"), try Person("Ben"))
    // The first process has the network, and knows no name.
    let first = try ana.start(userName: nil)
    try first.waitFor("the network") { try first.request("notes/status")["network"] == "on" }
    let guest = try ben.start(userName: "Ben")
    let note = try first.request("notes/create", ["title": "Tea"])
    let ticket = try first.request("notes/share", ["id": note["id"] ?? .null])["ticket"] ?? .null
    _ = try guest.request("notes/join", ["ticket": ticket])
    try waitFor("login", in: guest)

    let second = try ana.start(userName: "Ana")
    try waitFor("Ana", in: guest)
    try first.waitFor("the name in the other process") { try ownName(in: first) == "Ana" }
    _ = try first.request("notes/setName", ["name": "Zoe"])
    try waitFor("Zoe", in: guest)
    try second.waitFor("the name in the other process") { try ownName(in: second) == "Zoe" }
    // The remaining process takes over the network, under the same name.
    try first.kill()
    try second.waitFor("the network") { try second.request("notes/status")["network"] == "on" }
    try second.waitFor("Ben") { try second.request("notes/peers")["peers"]?[0]?["state"] == "connected" }
    try waitFor("Zoe", in: guest)
  }
}
