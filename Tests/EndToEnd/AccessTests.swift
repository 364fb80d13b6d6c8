import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What people may do with a note, told to their editors at every moment, and kept to.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct AccessTests {
  /// Ana, who has a note, and Ben, who has joined it and may only read it, or write it.
  private struct Pair {
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

  private func event(_ process: NotesProcess, _ kind: String) throws -> JSONValue {
    try process.waitForNotification("notes/event") { $0["kind"]?.stringValue == kind }
  }

  private func events(_ process: NotesProcess, _ kind: String) -> Int {
    process.messages.count { $0["method"] == "notes/event" && $0["params"]?["kind"]?.stringValue == kind }
  }

  private func status(_ process: NotesProcess, _ uri: String) throws -> JSONValue {
    try process.request("notes/status", ["uri": .string(uri)])
  }

  @Test func whatOneMayDoIsSaidOnJoiningAndInTheStatusAndAfterARestartOffline() throws {
    let pair = try Pair("read")
    #expect(pair.joined["access"] == "read")
    #expect(try status(pair.ben.process, pair.ben.client.uri)["access"] == "read")
    #expect(try status(pair.ana.process, pair.ana.client.uri)["access"] == "write")
    #expect(try pair.ana.process.request("notes/open", ["id": .string(pair.ana.id)])["access"] == "write")
    try pair.ben.process.shutdown()
    let offline = try pair.ben.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Ben")
    let note = try offline.request("notes/open", ["id": .string(pair.ana.id)])
    #expect(note["access"] == "read")
    let listed = try offline.request("notes/list")["notes"]?[0]
    #expect(listed?["owner"] == "Ana")
    #expect(listed?["shared"] == true)
    let client = try ModelClient(offline, note: note)
    let people = try status(offline, client.uri)["peers"]
    #expect(people?[0]?["name"] == "Ana" && people?[0]?["state"] == "unreachable" && people?[0]?["inSync"] == false)
  }

  @Test func theHostChangesWhatAGuestMayDoAndTheGuestHearsOfItBothWays() throws {
    let pair = try Pair("write")
    try pair.setAccess("read")
    let first = try event(pair.ben.process, "access")
    #expect(first["access"] == "read" && first["uri"]?.stringValue == pair.ben.client.uri && first["name"] == "Ana")
    #expect(first["message"] == "Ana made \"Shopping\" read-only for you")
    #expect(try status(pair.ben.process, pair.ben.client.uri)["access"] == "read")
    let people = try pair.ana.process.request("notes/people", ["id": .string(pair.ana.id)])["people"]
    #expect(people?[0]?["name"] == "Ben" && people?[0]?["access"] == "read")

    try pair.setAccess("write")
    let second = try pair.ben.process.waitForNotification("notes/event") {
      $0["kind"] == "access" && $0["access"] == "write"
    }
    #expect(second["message"] == "Ana lets you edit \"Shopping\"")
    // Typing goes on.
    pair.ben.client.edit(0..<0, with: "bread, ")
    pair.ben.client.flush()
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    #expect(pair.ana.client.text.string == "bread, milk\n")
    #expect(events(pair.ben.process, "refused") == 0)
  }

  @Test func aGuestThatWasAwayHearsOfTheChangeWhenItIsBack() throws {
    let pair = try Pair("write")
    try pair.ben.process.shutdown()
    try pair.setAccess("read")
    try pair.ana.process.shutdown()
    let host = try pair.ana.user.startInitialized()
    let guest = try pair.ben.user.startInitialized()
    // Neither has it open.
    try NotesProcess.wait(for: "the news", of: [host, guest]) { events(guest, "access") == 1 }
    #expect(try guest.request("notes/open", ["id": .string(pair.ana.id)])["access"] == "read")
  }

  @Test func whatIsTypedIntoAReadOnlyNoteIsKeptAndTakenBackAndTheDocumentsStayEqual() throws {
    let pair = try Pair("read")
    pair.ben.client.edit(0..<0, with: "Ben's words ")
    pair.ben.client.flush()
    let refused = try event(pair.ben.process, "refused")
    #expect(refused["message"]?.stringValue?.contains("Read-only") == true)
    #expect(refused["uri"]?.stringValue == pair.ben.client.uri)
    let path = try #require(refused["recovered"]?.stringValue)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "Ben's words milk\n")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    #expect(pair.ben.client.text.string == "milk\n")
    // It is in the list of recovered texts as well, and nothing is left to send.
    let kept = try pair.ben.process.request("notes/recovered")["texts"]
    #expect(kept?[0]?["path"]?.stringValue == path)
    try NotesProcess.wait(for: "both in sync", of: pair.processes) {
      try [(pair.ana.process, pair.ana.client.uri), (pair.ben.process, pair.ben.client.uri)].allSatisfy {
        try status($0, $1)["peers"]?[0]?["state"] == "inSync"
      }
    }
    // What the host writes still comes.
    pair.ana.client.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    expectNoComplaints(pair.ana.client, pair.ben.client)
  }

  @Test func whatAnotherProgramWritesToTheFileOfAReadOnlyNoteIsKeptAndTheFileIsTheNotesAgain() throws {
    let pair = try Pair("read")
    pair.ben.client.close()
    let path = try #require(pair.joined["path"]?.stringValue)
    try "written by hand\nmilk\n".write(toFile: path, atomically: true, encoding: .utf8)
    let refused = try event(pair.ben.process, "refused")
    let copy = try String(contentsOfFile: try #require(refused["recovered"]?.stringValue), encoding: .utf8)
    #expect(copy == "written by hand\nmilk\n")
    try pair.ben.process.waitFor("the file to be the note's") {
      try String(contentsOfFile: path, encoding: .utf8) == "milk\n"
    }
    #expect(pair.ana.client.text.string == "milk\n")
  }

  @Test(arguments: ["notes/rename", "notes/delete", "notes/undo", "notes/restore"])
  func requestsThatWouldChangeAReadOnlyNoteAreRefused(method: String) throws {
    let pair = try Pair("read")
    let heads = try pair.ben.process.request("notes/history", ["id": .string(pair.ana.id)])["changes"]?[0]?["heads"]
    let refusal = try pair.ben.process.refusal(
      method,
      [
        "uri": .string(pair.ben.client.uri), "title": "Mine", "forEveryone": true, "version": 1, "rev": 0,
        "heads": heads ?? [],
      ])
    #expect(refusal?.kind == "readOnly")
    #expect(refusal?.message == "Read-only: ask Ana for access, or make a copy.")
  }

  @Test func aCopyOfAReadOnlyNoteIsOnesOwn() throws {
    let pair = try Pair("read")
    let copy = try pair.ben.process.request("notes/copy", ["uri": .string(pair.ben.client.uri)])
    #expect(copy["access"] == "write" && copy["id"] != .string(pair.ana.id))
    let path = try #require(copy["path"]?.stringValue)
    #expect(path.hasSuffix("/Shopping copy.md"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "milk\n")
  }

  @Test func aGuestFromWhomTheNoteIsTakenHearsOfItAndKeepsItAsItsOwn() throws {
    let pair = try Pair("read")
    try pair.setAccess("none")
    let event = try event(pair.ben.process, "unshared")
    #expect(event["uri"]?.stringValue == pair.ben.client.uri && event["name"] == "Ana" && event["access"] == "write")
    #expect(event["message"] == "Ana stopped sharing \"Shopping\"; your copy stays")
    for (process, uri) in [(pair.ana.process, pair.ana.client.uri), (pair.ben.process, pair.ben.client.uri)] {
      let status = try status(process, uri)
      #expect(status["peers"] == [] && status["access"] == "write")
      let listed = try process.request("notes/list")["notes"]?[0]
      #expect(listed?["peers"] == [] && listed?["shared"] == false && listed?["owner"] == nil)
    }
    pair.ben.client.edit(0..<0, with: "mine: ")
    try ModelClient.waitForConvergence([pair.ben.client])
    #expect(events(pair.ben.process, "refused") == 0)
    #expect(pair.ana.client.text.string == "milk\n")
  }

  @Test func aHostHearsOfAGuestThatLeaves() throws {
    let pair = try Pair("write")
    try pair.ben.process.request("notes/unshare", ["id": .string(pair.ana.id)])
    let event = try event(pair.ana.process, "left")
    #expect(event["name"] == "Ben" && event["message"] == "Ben no longer shares \"Shopping\"")
    #expect(try status(pair.ana.process, pair.ana.client.uri)["peers"] == [])
    #expect(try pair.ana.process.request("notes/people", ["id": .string(pair.ana.id)])["people"] == [])
    #expect(try pair.ben.process.request("notes/list")["notes"]?[0]?["shared"] == false)
  }

  @Test func aBufferWhoseNoteIsDeletedIsToldOnceMoreWhenItIsTypedInto() throws {
    let pair = try Pair("write")
    try pair.ana.process.request("notes/delete", ["uri": .string(pair.ana.client.uri)])
    let event = try event(pair.ana.process, "detached")
    #expect(event["reason"] == "deleted" && event["uri"]?.stringValue == pair.ana.client.uri)
    #expect(event["message"] == "Deleted \"Shopping\"; undelete restores it")
    for letter in ["a", "b", "c"] {
      pair.ana.client.edit(0..<0, with: letter)
      pair.ana.client.flush()
    }
    try pair.ana.process.request("notes/status")
    #expect(events(pair.ana.process, "detached") == 2)
    #expect(pair.ben.client.text.string == "milk\n")
  }

  @Test func aPendingInvitationTakesNobodyOutOfAnyList() throws {
    let pair = try Pair("write")
    let other = try pair.ana.process.request("notes/create", ["title": "Other"])
    try pair.ana.process.request(
      "notes/invite", ["id": other["id"] ?? .null, "peer": .string(pair.benPeer)])
    for (process, uri, name) in [
      (pair.ana.process, pair.ana.client.uri, "Ben"), (pair.ben.process, pair.ben.client.uri, "Ana"),
    ] {
      let peers = try status(process, uri)["peers"]
      #expect(peers?[0]?["name"]?.stringValue == name && peers?[0]?["state"] != "unreachable")
      let listed = try process.request("notes/list")["notes"]?.arrayValue?.first { $0["title"] == "Shopping" }
      #expect(listed?["peers"] == [.string(name)])
    }
  }
}
