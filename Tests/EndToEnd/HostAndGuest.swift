import JSONRPC
import NotesHarness
import Testing

/// Ana, who hosts a note, and Ben, who has joined it with read or write access.
struct HostAndGuest {
  let ana: OpenNote
  let ben: JoinedNote
  let joined: JSONValue
  let benPeer: String

  init(_ access: String, text: String = "milk\n") throws {
    ana = try OpenNote("Ana", text: text)
    let shared = try ana.process.request("notes/share", ["id": .string(ana.id), "access": .string(access)])
    ben = try JoinedNote("Ben", ticket: try #require(shared["ticket"]?.stringValue))
    joined = try ben.process.request("notes/open", ["id": .string(ana.id)])
    benPeer = try #require(try ben.process.request("notes/peers")["self"]?["peer"]?.stringValue)
  }

  func setAccess(_ access: String) throws {
    try ana.process.request(
      "notes/setAccess", ["id": .string(ana.id), "peer": .string(benPeer), "access": .string(access)])
  }

  var processes: [NotesProcess] { [ana.process, ben.process] }
}

/// Tests of the news of a note that host and guest get.
protocol HostAndGuestTests {}

extension HostAndGuestTests {
  func event(_ process: NotesProcess, _ kind: String) throws -> JSONValue {
    try process.waitForNotification("notes/event") { $0["kind"]?.stringValue == kind }
  }

  func events(_ process: NotesProcess, _ kind: String) -> Int {
    process.messages.count { $0["method"] == "notes/event" && $0["params"]?["kind"]?.stringValue == kind }
  }

  func status(_ process: NotesProcess, _ uri: String) throws -> JSONValue {
    try process.request("notes/status", ["uri": .string(uri)])
  }
}
