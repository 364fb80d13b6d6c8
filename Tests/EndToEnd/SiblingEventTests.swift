import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Several editors of one person, one of which has the network: all get the news of other people.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct SiblingEventTests {}

extension SiblingEventTests {
  @Test func anInvitationReachesTheEditorsOfAllProcessesAndAnyOfThemAnswersIt() throws {
    let ana = try OpenNote(text: "milk\n")
    let others = try (0..<2).map { _ in try ana.user.startInitialized() }
    for other in others {
      // This process reaches the first one, which has the network.
      try other.waitFor("the first process") {
        try other.request("notes/peers")["self"]?["fingerprint"]?.stringValue?.isEmpty == false
      }
    }
    let bob = try JoinedNote("Bob", ticket: ana.ticket())
    let came = try others[0].waitForNotification("notes/event") { $0["kind"] == "accepted" }
    #expect(came["name"] == "Bob" && came["uri"]?.stringValue == ana.client.uri)

    let cake = try bob.process.request("notes/create", ["title": "Cake", "text": "apple\n"])
    try bob.process.request("notes/invite", ["uri": cake["uri"] ?? .null, "peer": "Ana"])
    for process in others + [ana.process] {
      let invited = try process.waitForNotification("notes/event") { $0["kind"] == "invited" }
      #expect(invited["message"]?.stringValue?.contains("Bob invites you to \"Cake\"") == true)
      // Each editor gets the news once.
      let id = invited["invitation"]
      #expect(process.messages.count { $0["params"]?["invitation"] == id && id != nil } == 1)
    }
    let invitation = try #require(try others[1].request("notes/invitations")["invitations"]?[0]?["invitation"])
    let opened = try others[1].request("notes/answer", ["invitation": invitation, "accept": true])
    let here = try ModelClient(others[1], note: opened)
    let there = try ModelClient(bob.process, note: cake)
    here.edit(0..<0, with: "warm ")
    here.flush()
    try ModelClient.waitForConvergence([here, there])
    #expect(there.text.string == "warm apple\n")
    expectNoComplaints(ana.client, here, there)
  }
}
