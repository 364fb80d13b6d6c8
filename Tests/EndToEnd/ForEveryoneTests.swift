import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What one process does for others: it deletes a note for everyone, and passes on requests that only the process with
/// the network can carry out.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct ForEveryoneTests {}

extension ForEveryoneTests {
  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  private func path(_ process: NotesProcess) throws -> String {
    try #require(try process.request("notes/list")["notes"]?[0]?["path"]?.stringValue)
  }

  @Test func aNoteThatIsDeletedForEveryoneGoesEverywhereAndComesBackWhereItIsWanted() throws {
    let ana = try OpenNote(text: "milk\n")
    let ticket = try ana.process.request("notes/share", ["id": .string(ana.id), "uses": 2])["ticket"]?.stringValue
    let bob = try JoinedNote("Bob", ticket: try #require(ticket))
    let cleo = try JoinedNote("Cleo", ticket: try #require(ticket))
    let (bobs, cleos) = (try path(bob.process), try path(cleo.process))
    cleo.client.close()
    bob.client.edit(0..<0, with: "Bob's ")
    try ModelClient.waitForConvergence([ana.client, bob.client])
    try ana.process.request("notes/delete", ["uri": .string(ana.client.uri), "forEveryone": true])
    // Bob has it open: he gets the news, and his buffer becomes a plain file.
    let event = try bob.process.waitForNotification("notes/event") {
      $0["kind"] == "detached"
    }
    #expect(event["uri"]?.stringValue == bob.client.uri && event["reason"] == "deletedForEveryone")
    try bob.process.waitFor("Bob's file to go") { !exists(bobs) }
    try cleo.process.waitFor("Cleo's file to go") { !exists(cleos) }
    for process in [ana.process, bob.process, cleo.process] {
      #expect(try process.request("notes/list")["notes"] == [])
    }
    // Cleo restores it. That restores it for no other person, and it is not deleted once more.
    let back = try cleo.process.request("notes/undelete", ["id": .string(ana.id)])
    let text = try String(contentsOfFile: back["path"]?.stringValue ?? "", encoding: .utf8)
    #expect(text == "Bob's milk\n")
    #expect(try ana.process.request("notes/list")["notes"] == [])
    try cleo.process.shutdown()
    let again = try cleo.user.startInitialized()
    #expect(try again.request("notes/open", ["id": .string(ana.id)])["path"] == back["path"])
    #expect(exists(back["path"]?.stringValue ?? ""))
  }

  @Test func aGuestThatWasAwayLearnsOfTheDeletionLater() throws {
    let ana = try OpenNote(text: "milk\n")
    let bob = try JoinedNote("Bob", ticket: ana.ticket())
    let bobs = try path(bob.process)
    try ModelClient.waitForConvergence([ana.client, bob.client])
    try bob.process.shutdown()
    try ana.process.request("notes/delete", ["uri": .string(ana.client.uri), "forEveryone": true])
    #expect(exists(bobs))
    let again = try bob.user.startInitialized()
    _ = try? again.request("notes/open", ["id": .string(ana.id)])
    try again.waitFor("the file to go") { !exists(bobs) }
    try again.waitFor("the list to be empty") { try again.request("notes/list")["notes"] == [] }
  }

  @Test func aProcessWithoutTheNetworkSharesAndJoinsThroughTheOneThatHasIt() throws {
    let ana = try OpenNote(text: "milk\n")
    let second = try ana.user.startInitialized()
    try second.waitFor("the first process") {
      try second.request("notes/list")["notes"]?[0]?["path"] != nil
        && (try second.request("notes/peers")["self"]?["fingerprint"]?.stringValue?.isEmpty == false)
    }
    // A note that the process with the network does not know.
    let made = try second.request("notes/create", ["title": "Tea", "text": "green\n"])
    let shared = try second.request("notes/share", ["uri": made["uri"] ?? .null])
    let bob = try NotesUser("Bob")
    let bobs = try bob.startInitialized()
    let joined = try bobs.request("notes/join", ["ticket": shared["ticket"] ?? .null])
    #expect(try String(contentsOfFile: joined["path"]?.stringValue ?? "", encoding: .utf8) == "green\n")
    // And the other way: the second process joins what Bob shares.
    let cake = try bobs.request("notes/create", ["title": "Cake", "text": "apple\n"])
    let ticket = try bobs.request("notes/share", ["id": cake["id"] ?? .null])["ticket"] ?? .null
    let here = try ModelClient(second, note: try second.request("notes/join", ["ticket": ticket]))
    #expect(here.text.string == "apple\n")
    let there = try ModelClient(bobs, note: cake)
    here.edit(0..<0, with: "warm ")
    here.flush()
    try ModelClient.waitForConvergence([here, there])
    #expect(there.text.string == "warm apple\n")
    #expect(try second.refusal("notes/join", ["ticket": "nonsense"])?.kind == "ticketInvalid")
    // Commands send requests to the same process.
    let printed = try ana.user.run(["share", "Tea"])
    #expect(printed.exit == .code(0))
    let cleo = try NotesUser("Cleo")
    let cleos = try cleo.startInitialized()
    let path = try cleo.run(["join", printed.output.trimmingCharacters(in: .whitespacesAndNewlines)])
    #expect(path.output.hasSuffix("/Tea.md\n"))
    #expect(try cleos.request("notes/list")["notes"]?[0]?["title"] == "Tea")
    #expect(try cleo.run(["peers"]).output.contains("Ana"))
    try cleos.shutdown()
    #expect(try cleo.run(["join", "nonsense"]).exit == .code(1))
    expectNoComplaints(ana.client, here, there)
  }
}
