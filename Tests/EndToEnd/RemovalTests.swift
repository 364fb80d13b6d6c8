import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Ana removes Ben permanently; Carol, and everyone that Carol invited, continue with her.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct RemovalTests {}

extension RemovalTests {
  /// Ana, who hosts the note, and Ben and Carol, who have it open.
  private struct Three {
    let ana: OpenNote
    let ben: JoinedNote
    let carol: JoinedNote
    let benPeer: String

    init() throws {
      ana = try OpenNote("Ana", text: "one\ntwo\n")
      let shared = try ana.process.request("notes/share", ["id": .string(ana.id), "uses": 2])
      let ticket = try #require(shared["ticket"]?.stringValue)
      ben = try JoinedNote("Ben", ticket: ticket)
      carol = try JoinedNote("Carol", ticket: ticket)
      benPeer = try #require(try ben.process.request("notes/peers")["self"]?["peer"]?.stringValue)
    }

    var processes: [NotesProcess] { [ana.process, ben.process, carol.process] }

    func wait(_ what: String, _ condition: () throws -> Bool) throws {
      try NotesProcess.wait(for: what, of: processes, condition)
    }

    func remove() throws -> String {
      let answer = try ana.process.request(
        "notes/remove", ["uri": .string(ana.client.uri), "peer": .string(benPeer), "moveOn": true])
      return try #require(answer["id"]?.stringValue)
    }
  }

  private func type(_ text: String, at place: Int, in client: ModelClient) {
    client.edit(place..<place, with: text)
    client.flush()
  }

  private func ids(_ process: NotesProcess) throws -> [String] {
    (try process.request("notes/list")["notes"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
  }

  @Test func theOthersGoOnInOpenBuffersAndTheOneWhoWasRemovedKeepsWhatIsThere() throws {
    let three = try Three()
    let (ana, ben, carol) = (three.ana.client, three.ben.client, three.carol.client)
    type("Ben was here\n", at: 0, in: ben)
    try three.wait("all have Ben's line") { [ana, carol].allSatisfy { $0.text.string.hasPrefix("Ben was here\n") } }

    let new = try three.remove()
    #expect(new != three.ana.id)
    let told = try three.carol.process.waitForNotification("notes/event") { $0["kind"] == "moved" }
    #expect(told["id"]?.stringValue == new && told["uri"]?.stringValue == carol.uri)
    #expect(told["message"] == "Ana removed a person from \"Shopping\"; it continues")
    let own = try three.ana.process.waitForNotification("notes/event") { $0["kind"] == "moved" }
    #expect(own["message"] == "Ben was removed from \"Shopping\"; the others go on")
    _ = try three.ben.process.waitForNotification("notes/event") { $0["kind"] == "unshared" }

    // Neither of them has reopened the note: both type into the same buffers as before.
    type("from Ana\n", at: 0, in: ana)
    try three.wait("Carol has Ana's line") { carol.text.string.contains("from Ana\n") }
    type("from Carol\n", at: 0, in: carol)
    type("from Ben\n", at: 0, in: ben)
    try three.wait("Ana has Carol's line") {
      ana.text.string == carol.text.string && ana.text.string.contains("from Carol")
    }
    try three.wait("Ben's line is stored with him") {
      try three.ben.process.request("notes/status", ["uri": .string(ben.uri)])["stored"] == true
    }
    #expect(ben.text.string == "from Ben\nBen was here\none\ntwo\n")
    #expect(!ana.text.string.contains("from Ben") && ana.text.string.contains("Ben was here"))

    // One note in each list; Ben is not among its people; the history goes back to the beginning, with its authors.
    #expect(try ids(three.ana.process) == [new] && ids(three.carol.process) == [new])
    #expect(try ids(three.ben.process) == [three.ana.id])
    let people = try three.ana.process.request("notes/people", ["id": .string(new)])["people"]?.arrayValue ?? []
    #expect(people.compactMap { $0["name"]?.stringValue } == ["Carol"])
    let rows = try three.carol.process.request("notes/history", ["id": .string(new)])["changes"]?.arrayValue ?? []
    let authors = Set(rows.compactMap { $0["author"]?.stringValue })
    #expect(authors.isSuperset(of: ["Ana", "Carol"]), "\(authors)")
    // Ana can still undo what she wrote before, and the file is the same one.
    #expect(try three.ana.process.request("notes/open", ["id": .string(new)])["uri"]?.stringValue == ana.uri)
    #expect(ana.complaints == [] && carol.complaints == [] && ben.complaints == [])
    for process in three.processes { try process.shutdown() }
  }

  /// The control: revoking access keeps the document.
  @Test func takingAccessBackKeepsTheDocument() throws {
    let three = try Three()
    let answer = try three.ana.process.request(
      "notes/remove", ["uri": .string(three.ana.client.uri), "peer": .string(three.benPeer)])
    #expect(answer["id"]?.stringValue == three.ana.id)
    _ = try three.ben.process.waitForNotification("notes/event") { $0["kind"] == "unshared" }
    type("from Ana\n", at: 0, in: three.ana.client)
    try three.wait("Carol has it") { three.carol.client.text.string.hasPrefix("from Ana\n") }
    #expect(try ids(three.ana.process) == [three.ana.id] && ids(three.carol.process) == [three.ana.id])
    // A client can ask whether a person can be removed, which changes nothing.
    let people =
      try three.ana.process.request("notes/people", ["id": .string(three.ana.id)])["people"]?.arrayValue ?? []
    for person in people where person["access"] == "write" && person["peer"]?.stringValue != three.benPeer {
      let peer = try #require(person["peer"])
      let found = try three.ana.process.request(
        "notes/remove", ["id": .string(three.ana.id), "peer": peer, "moveOn": true, "check": true])
      #expect(found["name"] == person["name"] && found["id"]?.stringValue == three.ana.id)
    }
    // Guests cannot remove people.
    let refusal = try three.carol.process.respond(
      "notes/remove", ["id": .string(three.ana.id), "peer": .string(three.benPeer), "moveOn": true])
    #expect(refusal["error"] != nil)
    for process in three.processes { try process.shutdown() }
  }

  /// Carol is offline during the removal, types, and connects again.
  @Test func wordsTypedOfflineAreInTheNewDocumentAndThoseOfTheOneWhoWasRemovedAreNot() throws {
    let three = try Three()
    try three.carol.process.shutdown()
    let new = try three.remove()
    type("from Ana\n", at: 0, in: three.ana.client)
    type("from Ben\n", at: 0, in: three.ben.client)

    let offline = try three.carol.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Carol")
    let before = try ModelClient(offline, note: offline.request("notes/open", ["id": .string(three.ana.id)]))
    type("Carol on the train\n", at: 0, in: before)
    try offline.waitFor("it is stored") {
      try offline.request("notes/status", ["uri": .string(before.uri)])["stored"] == true
    }
    try offline.shutdown()

    let online = try three.carol.user.startInitialized()
    let after = try ModelClient(online, note: online.request("notes/open", ["id": .string(three.ana.id)]))
    _ = try online.waitForNotification("notes/event") { $0["kind"] == "moved" && $0["id"]?.stringValue == new }
    try NotesProcess.wait(for: "both have everything", of: [three.ana.process, online]) {
      after.text.string == three.ana.client.text.string && after.text.string.contains("from Ana\n")
        && after.text.string.contains("Carol on the train\n")
    }
    type("and home\n", at: 0, in: after)
    try NotesProcess.wait(for: "typing goes on", of: [three.ana.process, online]) {
      three.ana.client.text.string.hasPrefix("and home\n")
    }
    #expect(!after.text.string.contains("from Ben"))
    #expect(try ids(online) == [new])
    // After another start the service has nothing more to do.
    try online.shutdown()
    let again = try three.carol.user.startInitialized()
    #expect(try ids(again) == [new])
    let place = try again.request("notes/open", ["id": .string(new)])
    #expect(place["uri"]?.stringValue == after.uri)
    let text = try String(contentsOfFile: try #require(place["path"]?.stringValue), encoding: .utf8)
    #expect(text == three.ana.client.text.string)
    for process in [three.ana.process, three.ben.process, again] { try process.shutdown() }
  }

  /// Each item of a meeting has a buffer of its own.
  @Test func aMeetingGoesOnWithAllItsItems() throws {
    let ana = try NotesUser("Ana").startInitialized()
    let meeting = try ana.request("notes/create", ["title": "Monday", "kind": "meeting"])
    let id = try #require(meeting["id"])
    var own: [ModelClient] = []
    for title in ["Budget", "Travel"] {
      let item = try ana.request("notes/addItem", ["id": id, "title": .string(title), "text": .string("\(title)\n")])
      own.append(try ModelClient(ana, note: item))
    }
    let ticket = try #require(try ana.request("notes/share", ["id": id, "uses": 2])["ticket"]?.stringValue)
    let (ben, carol) = (try NotesUser("Ben").startInitialized(), try NotesUser("Carol").startInitialized())
    for guest in [ben, carol] { try guest.request("notes/join", ["ticket": .string(ticket)]) }
    let items = try carol.request("notes/items", ["id": id])["items"]?.arrayValue ?? []
    let theirs = try items.map { item in
      try ModelClient(carol, note: carol.request("notes/open", ["id": id, "item": try #require(item["item"])]))
    }
    #expect(theirs.map(\.text.string) == ["Budget\n", "Travel\n"])
    let peer = try #require(try ben.request("notes/peers")["self"]?["peer"])
    let new = try #require(try ana.request("notes/remove", ["id": id, "peer": peer, "moveOn": true])["id"])
    _ = try carol.waitForNotification("notes/event") { $0["kind"] == "moved" }
    for (number, client) in own.enumerated() { type("Ana \(number)\n", at: 0, in: client) }
    for (number, client) in theirs.enumerated() { type("Carol \(number)\n", at: 0, in: client) }
    try NotesProcess.wait(for: "both items to be equal", of: [ana, ben, carol]) {
      zip(own, theirs).allSatisfy { $0.text.string == $1.text.string && $0.text.string.contains("Carol") }
    }
    #expect(zip(own, ["Budget", "Travel"]).allSatisfy { $0.text.string.hasSuffix($1 + "\n") })
    // The agenda is that of the new document, with the same files.
    let after = try carol.request("notes/items", ["id": new])["items"]?.arrayValue ?? []
    #expect(after.map { $0["uri"]?.stringValue } == theirs.map(\.uri))
    #expect(try ids(ana) == [new.stringValue] && ids(carol) == [new.stringValue])
    for process in [ana, ben, carol] { try process.shutdown() }
  }

  /// Two editors of one person: the one without the network has the note open when the other removes Ben.
  @Test func theOtherEditorOfTheSamePersonGoesOnToo() throws {
    let three = try Three()
    let second = try three.ana.user.startInitialized()
    let client = try ModelClient(second, note: second.request("notes/open", ["id": .string(three.ana.id)]))
    type("second\n", at: 0, in: client)
    try three.wait("the first editor has it") { three.ana.client.text.string.hasPrefix("second\n") }
    // The request goes to the process that may not have the network.
    let answer = try second.request(
      "notes/remove", ["uri": .string(client.uri), "peer": .string(three.benPeer), "moveOn": true])
    let new = try #require(answer["id"]?.stringValue)
    _ = try second.waitForNotification("notes/event") { $0["kind"] == "moved" }
    type("more\n", at: 0, in: client)
    try NotesProcess.wait(for: "all have it", of: three.processes + [second]) {
      [three.ana.client, three.carol.client].allSatisfy { $0.text.string.hasPrefix("more\n") }
    }
    type("from Carol\n", at: 0, in: three.carol.client)
    try NotesProcess.wait(for: "it comes to both editors", of: three.processes + [second]) {
      [three.ana.client, client].allSatisfy { $0.text.string.hasPrefix("from Carol\n") }
    }
    #expect(try ids(second) == [new] && ids(three.ana.process) == [new])
    for process in three.processes + [second] { try process.shutdown() }
  }

  /// Carol has two editors, and the service of one of them is killed right after it knows of the removal.
  @Test func bothEditorsOfAGuestGoOnAlsoWhenAServiceIsKilled() throws {
    let three = try Three()
    let second = try three.carol.user.startInitialized()
    let client = try ModelClient(second, note: second.request("notes/open", ["id": .string(three.ana.id)]))
    type("second\n", at: 0, in: client)
    try three.wait("Ana has it") { three.ana.client.text.string.hasPrefix("second\n") }
    let new = try three.remove()
    for process in [three.carol.process, second] {
      _ = try process.waitForNotification("notes/event") { $0["kind"] == "moved" && $0["id"]?.stringValue == new }
    }
    type("more\n", at: 0, in: client)
    type("from Carol\n", at: 0, in: three.carol.client)
    three.carol.process.child.send(signal: SIGKILL)
    try three.carol.process.child.waitForExit()
    // Typed while no service runs.
    type("meanwhile\n", at: 0, in: three.carol.client)
    let again = try three.carol.user.startInitialized()
    three.carol.client.reattach(to: again)
    let running = [three.ana.process, three.ben.process, second, again]
    try NotesProcess.wait(for: "all three buffers to be equal", of: running) {
      let text = three.ana.client.text.string
      return [client, three.carol.client].allSatisfy { $0.text.string == text }
        && ["more\n", "from Carol\n", "meanwhile\n"].allSatisfy(text.contains)
    }
    let lines = three.ana.client.text.string.split(separator: "\n")
    #expect(Set(lines).count == lines.count, "no line appears twice: \(lines)")
    #expect(try ids(again) == [new] && ids(second) == [new])
    for process in running { try process.shutdown() }
  }
}

/// The same by the commands of real editors.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct RemovalEditorTests {}

extension RemovalEditorTests {
  @Test func aHostInVimAndAGuestInEmacsGoOnInTheirBuffers() throws {
    try remove(VimUnderTest.self, EmacsUnderTest.self)
  }

  @Test func aHostInEmacsAndAGuestInVimGoOnInTheirBuffers() throws {
    try remove(EmacsUnderTest.self, VimUnderTest.self)
  }

  private func remove<Host: EditorUnderTest, Guest: EditorUnderTest>(_: Host.Type, _: Guest.Type) throws {
    let ana = try Host(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let carol = try Guest(user: NotesUser("Carol"), seed: 2, maximumDelay: .zero)
    let old = try ana.createAndShare("Picnic", with: carol)
    try ana.give(vim: "call setreg('\"', '')", emacs: "(setq kill-ring nil)")
    try ana.share()
    let guest = try JoinedNote("Ben", ticket: ana.waitForTicket())
    let (process, ben) = (guest.process, guest.client)
    if Host.kind == "Vim" { try ana.session.terminal.press("Escape") }
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("bread ")
    try carol.waitForText("bread")
    try NotesProcess.wait(for: "Ben has it", of: [process]) { ben.text.string.contains("bread") }
    try ana.endTyping()

    // An unknown name is reported at once, before any question.
    try ana.give(vim: "NotesRemove Nobody", emacs: "(notes-remove \"Nobody\")")
    try ana.waitForScreen("No peer called Nobody")
    // The line stays until it is read, which a key says.
    try ana.session.terminal.press(Host.kind == "Vim" ? "Escape" : "C-l")
    try ana.give(vim: "NotesRemove! Ben", emacs: "(notes-remove \"Ben\" t)")
    try ana.waitForScreen("Ben was removed from \"Picnic\"")
    try carol.waitForScreen("Ana removed a person from \"Picnic\"")
    try ana.session.wait(for: "both editors to know the new document") {
      let (one, other) = (try ana.documentId(), try carol.documentId())
      return one == other && one != old && one != nil
    }
    try carol.beginTypingAtEnd()
    try carol.session.terminal.type("cheese ")
    try ana.waitForText("cheese")
    try ana.waitForScreen("cheese")
    try carol.endTyping()
    #expect(ben.text.string.contains("bread") && !ben.text.string.contains("cheese"))
    try ana.session.wait(for: "equal texts") { try ana.state()?.text == carol.state()?.text }
    for editor in [ana, carol] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
      #expect(try editor.session.audits().flatMap(\.complaints) == [])
    }
    try process.shutdown()
  }
}
