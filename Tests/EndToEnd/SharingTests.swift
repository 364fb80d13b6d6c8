import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The services of two or more people, driven over standard input, on one shared note.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct SharingTests {}

extension SharingTests {
  /// Lets all clients do random things, one at a time in random order, while messages arrive.
  private func scramble(_ clients: [ModelClient], steps: Int, using random: inout SplitMix64) throws {
    for _ in 0..<steps {
      clients[random.below(clients.count)].performRandomStep(using: &random)
      if random.chance(70) { for client in clients { try client.process.collect() } }
      if random.chance(5) { Polling.randomRest(milliseconds: random.below(8)) }
    }
  }

  @Test(arguments: [
    (UInt64(1), PositionEncoding.utf8, PositionEncoding.utf32), (2, .utf16, .utf8), (3, .utf32, .utf16),
    (4, .utf8, .utf8),
  ])
  func randomEditsOfTwoPeopleConverge(seed: UInt64, first: PositionEncoding, second: PositionEncoding) throws {
    var random = SplitMix64(seed: seed)
    let ana = try OpenNote("Ana", text: "# Shared\n", encoding: first)
    let ben = try JoinedNote("Ben", ticket: ana.ticket(), encoding: second)
    #expect(ben.client.text.string == "# Shared\n")
    for _ in 0..<4 {
      try scramble([ana.client, ben.client], steps: 250, using: &random)
      try ModelClient.waitForConvergence([ana.client, ben.client])
    }
    expectNoComplaints(ana.client, ben.client, seed: seed)
    #expect(try ana.process.shutdown() == .code(0))
    #expect(try ben.process.shutdown() == .code(0))
    #expect(try ana.user.storedText(of: ana.id) == ana.client.text.string, "seed \(seed)")
    #expect(try ben.user.storedText(of: ana.id) == ana.client.text.string, "seed \(seed)")
  }

  @Test func unsharingWhatIsNotSharedSaysSo() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let note: JSONValue = ["id": .string(ana.id)]
    func refusal(_ params: JSONValue) throws -> String? {
      try ana.process.respond("notes/unshare", params)["error"]?["message"]?.stringValue
    }
    #expect(try refusal(note) == "This note is not shared.")
    // The host can cancel an unused ticket, and end each person's access.
    _ = try ana.process.request("notes/share", note)
    #expect(try refusal(note) == nil)
    #expect(try refusal(note) == "This note is not shared.")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    try ana.process.waitFor("Ben") {
      try !(ana.process.request("notes/people", note)["people"]?.arrayValue ?? []).isEmpty
    }
    let person: JSONValue = ["id": .string(ana.id), "peer": "Ben"]
    #expect(try refusal(person) == nil)
    #expect(try refusal(person) == "You do not share this note with Ben.")
    try ben.process.shutdown()
  }

  @Test func aNoteThatOneHasDeletedAndJoinsAgainIsANoteAgain() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    ben.client.close()
    _ = try ben.process.request("notes/delete", ["id": .string(ana.id)])
    ana.client.edit(0..<0, with: "tea\n")
    ana.client.flush()
    let place = try ben.process.request("notes/join", ["ticket": .string(ana.ticket())])
    let client = try ModelClient(ben.process, note: place)
    try ModelClient.waitForConvergence([ana.client, client])
    client.edit(0..<0, with: "eggs\n")
    client.flush()
    try ModelClient.waitForConvergence([ana.client, client])
    #expect(ana.client.text.string == "eggs\ntea\nmilk\n")
    let listed = try ben.process.request("notes/list")["notes"]?.arrayValue ?? []
    #expect(listed.map { $0["id"]?.stringValue } == [ana.id])
    #expect(try ben.process.shutdown() == .code(0))
    #expect(try ana.process.shutdown() == .code(0))
  }

  @Test func joiningOnesOwnNoteByAGuestsTicketSaysWhatToDo() throws {
    let ana = try OpenNote("Ana", text: "milk\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    let ticket = try ben.process.request("notes/share", ["id": .string(ana.id)])["ticket"]?.stringValue ?? ""
    func refusal() throws -> String {
      let response = try ana.process.respond("notes/join", ["ticket": .string(ticket)])
      return response["error"]?["message"]?.stringValue ?? "\(response)"
    }
    let own = try refusal()
    #expect(own.hasSuffix("is your own note."), "\(own)")
    ana.client.close()
    _ = try ana.process.request("notes/delete", ["id": .string(ana.id)])
    let deleted = try refusal()
    #expect(deleted.hasPrefix("You deleted "), "\(deleted)")
    #expect(try ben.process.shutdown() == .code(0))
    #expect(try ana.process.shutdown() == .code(0))
  }

  @Test func editsThatCameTooLateAndToNothingLeaveNoTrace() throws {
    let ana = try OpenNote("Ana", text: "note\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    ana.client.isUnsafe = true
    for (range, word) in [(0..<0, "gone"), (0..<4, "")] {
      let before = ana.client.queuedEditCount
      ben.client.edit(range, with: word)
      ben.client.flush()
      try NotesProcess.wait(for: "the edit", of: [ana.process, ben.process]) { ana.client.queuedEditCount > before }
    }
    // Typed before the edits were applied: the client drops both edits, and the service need not send anything instead.
    ana.client.edit(5..<5, with: "kept\n")
    ana.client.flush()
    try ModelClient.waitForConvergence([ana.client, ben.client])
    #expect(ana.client.rev == 0)
    #expect(ana.client.text.string == "note\nkept\n")
    expectNoComplaints(ana.client, ben.client)
  }

  /// A client forgets the peers when it hears that a note is no longer shared.
  @Test func aGuestThatIsInvitedAgainAtOnceHearsThatTheHostIsOnline() throws {
    let ana = try OpenNote("Ana", text: "note\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    let isSynced = { (status: JSONValue) in status["peers"]?[0]?["state"] == "inSync" }
    try ben.process.waitForNotification("notes/statusChanged", where: isSynced)
    try ana.process.request("notes/unshare", ["id": .string(ana.id)])
    try ben.process.waitForNotification("notes/event") { $0["kind"] == "unshared" }
    let told = ben.process.messages.count
    try ben.process.request("notes/join", ["ticket": .string(ana.ticket())])
    try ben.process.waitForNotification("notes/statusChanged", from: told, where: isSynced)
    expectNoComplaints(ana.client, ben.client)
  }

  @Test func whoBlocksTheHostIsNotToldThatTheHostStoppedSharing() throws {
    let ana = try OpenNote("Ana", text: "note\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    try ben.process.request("notes/trust", ["peer": "Ana", "state": "blocked"])
    let told = try ben.process.waitForNotification("notes/event") { $0["kind"] == "unshared" }
    #expect(told["message"]?.stringValue?.hasPrefix("No longer shared: ") == true, "\(told)")
    try ben.process.shutdown()
  }

  /// Ben receives Cleo's caret from Ana. When Ben no longer shares the note with Ana, Cleo is not in his note either,
  /// which is no news.
  @Test func aGuestThatLeavesANoteSeesNoPeopleInItAnyMore() throws {
    let ana = try OpenNote("Ana", text: "note\n")
    let ticket = try ana.process.request("notes/share", ["id": .string(ana.id), "uses": 2])["ticket"]?.stringValue
    let ben = try JoinedNote("Ben", ticket: #require(ticket))
    let cleo = try JoinedNote("Cleo", ticket: #require(ticket))
    func named(_ params: JSONValue) -> [String] {
      (params["peers"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }.sorted()
    }
    try ben.process.waitForNotification("notes/cursors") { named($0) == ["Ana", "Cleo"] }
    let told = ben.process.messages.count
    try ben.process.request("notes/unshare", ["id": .string(ana.id)])
    try ben.process.waitForNotification("notes/cursors", from: told) { named($0).isEmpty }
    #expect(try ben.process.request("notes/status", ["id": .string(ana.id)])["peers"]?.arrayValue == [])
    let news = ben.process.messages[told...].filter { $0["method"] == "notes/event" }
    #expect(news.allSatisfy { $0["params"]?["kind"] != "left" }, "\(news)")
    try cleo.process.shutdown()
  }

  @Test func aLateJoinerGetsEverything() throws {
    var random = SplitMix64(seed: 21)
    let ana = try OpenNote("Ana")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    try scramble([ana.client, ben.client], steps: 200, using: &random)
    try ModelClient.waitForConvergence([ana.client, ben.client])
    let eva = try JoinedNote("Eva", ticket: ana.ticket(), encoding: .utf16)
    #expect(eva.client.text.bytes == ana.client.text.bytes)
    let clients = [ana.client, ben.client, eva.client]
    try scramble(clients, steps: 200, using: &random)
    try ModelClient.waitForConvergence(clients)
    expectNoComplaints(ana.client, ben.client, eva.client, seed: 21)
  }

  @Test func aKilledServiceLosesNothingAndDoublesNothing() throws {
    let seed: UInt64 = 31
    var random = SplitMix64(seed: seed)
    let ana = try OpenNote("Ana")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    // Words that have nothing in common, so that no diff can treat one as a change of another.
    let words = [("quince", "Zürich", "fjord"), ("bumph", "gizmo", "vexed"), ("waltz", "kylix", "nymph")]
    for (sent, typed, said) in words {
      try scramble([ana.client, ben.client], steps: 100, using: &random)
      ana.client.edit(0..<0, with: "\(sent)\n")
      ana.client.flush()
      try ana.client.process.kill()
      ana.client.isUnsafe = false
      // The buffer outlives the service, and Ana types while no service runs.
      ana.client.edit(0..<0, with: "\(typed)\n")
      try scramble([ben.client], steps: 50, using: &random)
      ben.client.edit(0..<0, with: "\(said)\n")
      ana.client.reattach(to: try ana.user.startInitialized())
      try ModelClient.waitForConvergence([ana.client, ben.client])
      for word in [sent, typed, said] {
        let text = ana.client.text.string
        #expect(text.components(separatedBy: word).count == 2, "\(word), seed \(seed): \(text)")
      }
    }
    expectNoComplaints(ana.client, ben.client, seed: seed)
  }

  @Test func bothMayBeRestarted() throws {
    let ana = try OpenNote("Ana", text: "one\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    ana.client.edit(0..<0, with: "zero\n")
    try ModelClient.waitForConvergence([ana.client, ben.client])
    for (user, client) in [(ana.user, ana.client), (ben.user, ben.client)] {
      client.close()
      try client.process.shutdown()
      #expect(try user.storedText(of: ana.id) == "zero\none\n")
    }
    let clients = try [ana.user, ben.user].map { user in
      let process = try user.startInitialized()
      return try ModelClient(process, note: process.request("notes/open", ["id": .string(ana.id)]))
    }
    #expect(clients.map(\.text.string) == ["zero\none\n", "zero\none\n"])
    clients[0].edit(0..<0, with: "a")
    clients[1].edit(9..<9, with: "b\n")
    try ModelClient.waitForConvergence(clients)
    #expect(clients[0].text.string == "azero\none\nb\n")
  }

  @Test func whatBothTypedOfflineIsMerged() throws {
    let ana = try OpenNote("Ana", text: "middle\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    ben.client.close()
    try ben.process.shutdown()

    let offline = try ben.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Ben")
    let away = try ModelClient(offline, note: offline.request("notes/open", ["id": .string(ana.id)]))
    away.edit(7..<7, with: "after, by Ben\n")
    ana.client.edit(0..<0, with: "before, by Ana\n")
    try ModelClient.waitForConvergence([away])
    try ModelClient.waitForConvergence([ana.client])
    away.close()
    try offline.shutdown()

    let process = try ben.user.startInitialized()
    let back = try ModelClient(process, note: process.request("notes/open", ["id": .string(ana.id)]))
    try NotesProcess.wait(for: "Ben's words at Ana's", of: [ana.process, process]) {
      ana.client.text.string.contains("by Ben") && back.text.string.contains("by Ana")
    }
    try ModelClient.waitForConvergence([ana.client, back], checked: false)
    #expect(back.text.string == "before, by Ana\nmiddle\nafter, by Ben\n")
  }

  @Test func caretsAreShownToTheOthers() throws {
    let ana = try OpenNote("Ana", text: "one\ntwo 😀 three\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket(), encoding: .utf16)
    ben.client.sendCursor(at: 12)
    try NotesProcess.wait(for: "Ben's caret", of: [ana.process, ben.process]) {
      ana.client.peers.contains { peer in
        peer["name"] == "Ben"
          && peer["ranges"]?[0]?["end"] == ["line": 1, "character": 8]
      }
    }
    let color = ana.client.peers.first?["color"]?.intValue
    #expect(color.map { (0...11).contains($0) } == true)
    #expect(ana.client.peers.first?["letter"]?.stringValue?.isEmpty == false)
    try ben.process.shutdown()
    try NotesProcess.wait(for: "Ben's caret to vanish", of: [ana.process]) { ana.client.peers.isEmpty }
    expectNoComplaints(ana.client, ben.client)
  }

  @Test func aTicketOpensTheDoorOnce() throws {
    let ana = try OpenNote("Ana", text: "secret\n")
    let ticket = try ana.ticket()
    _ = try JoinedNote("Ben", ticket: ticket)
    let eva = try NotesUser("Eva").startInitialized()
    let refusal = try eva.refusal("notes/join", ["ticket": .string(ticket)])
    #expect(["ticketUsed", "refused", "ticketInvalid"].contains(refusal?.kind ?? ""), "\(String(describing: refusal))")
  }

  @Test func notesAreListedWithTheirPeople() throws {
    let ana = try OpenNote("Ana", text: "some words here\n")
    let ben = try JoinedNote("Ben", ticket: ana.ticket())
    let notes = try ben.process.request("notes/list")["notes"]
    #expect(notes?[0]?["id"]?.stringValue == ana.id)
    #expect(notes?[0]?["title"] == "Shopping")
    #expect(notes?[0]?["words"] == 3)
    let people = try ana.process.request("notes/peers")["peers"]?.arrayValue ?? []
    #expect(people.contains { $0["name"] == "Ben" && $0["state"] == "connected" })
    try ana.process.waitFor("Ben to be in sync") {
      let status = try ana.process.request("notes/status", ["uri": .string(ana.client.uri)])
      return status["peers"]?.arrayValue?.contains { $0["name"] == "Ben" && $0["inSync"] == true } ?? false
    }
  }
}
