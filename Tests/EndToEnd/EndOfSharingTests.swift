import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The news when either side ends the sharing of a note, and whom the host can invite then.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct EndOfSharingTests: HostAndGuestTests {}

extension EndOfSharingTests {
  @Test func aGuestFromWhomTheNoteIsTakenHearsOfItAndKeepsItAsItsOwn() throws {
    let pair = try HostAndGuest("read")
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
    let pair = try HostAndGuest("write")
    try pair.ben.process.request("notes/unshare", ["id": .string(pair.ana.id)])
    let event = try event(pair.ana.process, "left")
    #expect(event["name"] == "Ben" && event["message"] == "Ben no longer shares \"Shopping\"")
    #expect(try status(pair.ana.process, pair.ana.client.uri)["peers"] == [])
    #expect(try pair.ana.process.request("notes/people", ["id": .string(pair.ana.id)])["people"] == [])
    #expect(try pair.ben.process.request("notes/list")["notes"]?[0]?["shared"] == false)
  }

  @Test func aHostHearsOfAGuestThatRemovesItsCopyForGood() throws {
    let pair = try HostAndGuest("write")
    try pair.ben.process.request("notes/delete", ["id": .string(pair.ana.id)])
    try pair.ben.process.request("notes/purge", ["id": .string(pair.ana.id)])
    // The service also reports that Ben has closed it.
    _ = try pair.ana.process.waitForNotification("notes/event") {
      $0["kind"] == "left" && $0["name"] == "Ben" && $0["message"] == "Ben no longer shares \"Shopping\""
    }
    #expect(try status(pair.ana.process, pair.ana.client.uri)["peers"] == [])
    #expect(try pair.ana.process.request("notes/list")["notes"]?[0]?["shared"] == false)
  }

  @Test func aGuestHearsOfAHostThatRemovesTheNoteForGoodAndKeepsItsCopy() throws {
    let pair = try HostAndGuest("write")
    let second = try pair.ana.user.startInitialized()
    try pair.ana.process.request("notes/delete", ["id": .string(pair.ana.id)])
    try NotesProcess.wait(for: "the deletion", of: [second, pair.ana.process]) {
      try second.request("notes/list")["notes"] == []
    }
    // The second process has no network of its own.
    try second.request("notes/purge", ["id": .string(pair.ana.id)])
    let event = try event(pair.ben.process, "unshared")
    #expect(event["message"] == "Ana stopped sharing \"Shopping\"; your copy stays")
    #expect(try status(pair.ben.process, pair.ben.client.uri)["peers"] == [])
    #expect(try pair.ben.process.request("notes/list")["notes"]?[0]?["shared"] == false)
    pair.ben.client.edit(0..<0, with: "mine: ")
    try ModelClient.waitForConvergence([pair.ben.client])
    #expect(pair.ben.client.text.string == "mine: milk\n")
  }

  @Test func aBufferWhoseNoteIsDeletedIsToldOnceMoreWhenItIsTypedInto() throws {
    let pair = try HostAndGuest("write")
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

  @Test(arguments: ["unshare", "setAccess", "remove"])
  func aGuestWithoutTheNoteIsNoLongerInIt(method: String) throws {
    let pair = try HostAndGuest("write")
    pair.ben.client.sendCursor(at: 0)
    func here() throws -> JSONValue? { try pair.ana.process.request("notes/list")["notes"]?[0]?["here"] }
    try NotesProcess.wait(for: "Ben", of: pair.processes) { try here() == ["Ben"] }
    let asked: JSONValue = ["id": .string(pair.ana.id), "peer": .string(pair.benPeer), "access": "none"]
    try pair.ana.process.request("notes/\(method)", asked)
    #expect(try here() == [])
  }

  @Test func aPeerBlockedByNameCanBeTrustedByNameAgain() throws {
    let pair = try HostAndGuest("write")
    for state in ["blocked", "trusted", "blocked", "forgotten"] {
      try pair.ana.process.request("notes/trust", ["peer": "ben", "state": .string(state)])
      let ben = try pair.ana.process.request("notes/peers")["peers"]?.arrayValue?.first { $0["name"] == "Ben" }
      #expect((ben?["state"] == "blocked") == (state == "blocked"))
    }
  }

  @Test func aPersonWithTheNoteIsNotInvitedAgainAndTheInviterIsTold() throws {
    let pair = try HostAndGuest("write")
    let (ana, ben) = (pair.ana.process, pair.ben.process)
    let anaPeer = try #require(try ana.request("notes/peers")["self"]?["peer"]?.stringValue)
    for (inviter, peer, name) in [(ana, pair.benPeer, "Ben"), (ben, anaPeer, "Ana")] {
      let answer = try inviter.respond("notes/invite", ["id": .string(pair.ana.id), "peer": .string(peer)])
      let error = try #require(answer["error"])
      #expect(error["message"]?.stringValue == "\(name) already has \"Shopping\"")
      #expect(error["data"]?["kind"] == "conflict")
    }
    #expect(try ben.request("notes/invitations")["invitations"] == [])
    #expect(try ana.request("notes/invitations")["sent"] == [])
    // A person who no longer has it can be invited.
    try ben.request("notes/delete", ["id": .string(pair.ana.id)])
    try ben.request("notes/purge", ["id": .string(pair.ana.id)])
    try NotesProcess.wait(for: "the invitation", of: pair.processes) {
      try ana.respond("notes/invite", ["id": .string(pair.ana.id), "peer": .string(pair.benPeer)])["error"] == nil
    }
    #expect(try ben.request("notes/invitations")["invitations"]?[0]?["title"] == "Shopping")
  }

  @Test func aPendingInvitationTakesNoPersonOutOfAnyList() throws {
    let pair = try HostAndGuest("write")
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
