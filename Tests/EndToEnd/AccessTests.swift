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

  @Test func whatWasTypedOfflineBeforeTheNewsCameIsKeptAndTheDocumentsAreEqualAgain() throws {
    let pair = try Pair("write")
    pair.ben.client.close()
    try pair.ben.process.shutdown()
    let offline = try pair.ben.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Ben")
    let away = try ModelClient(offline, note: offline.request("notes/open", ["id": .string(pair.ana.id)]))
    away.edit(0..<0, with: "on the train ")
    try ModelClient.waitForConvergence([away])
    try offline.shutdown()
    try pair.setAccess("read")
    pair.ana.client.edit(5..<5, with: "butter\n")
    pair.ana.client.flush()

    let process = try pair.ben.user.startInitialized()
    let back = try ModelClient(process, note: process.request("notes/open", ["id": .string(pair.ana.id)]))
    let processes = [pair.ana.process, process]
    let refused = try NotesProcess.event("refused", of: process, [pair.ana.process])
    let path = try #require(refused["recovered"]?.stringValue)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("on the train milk"))
    try NotesProcess.wait(for: "equal texts", of: processes) { back.text.string == "milk\nbutter\n" }
    try ModelClient.waitForConvergence([pair.ana.client, back], checked: false)
    try NotesProcess.wait(for: "both in sync", of: processes) {
      try [(pair.ana.process, pair.ana.client.uri), (process, back.uri)].allSatisfy {
        try status($0, $1)["peers"]?[0]?["state"] == "inSync"
      }
    }
    try process.shutdown()
    #expect(try pair.ben.user.storedText(of: pair.ana.id) == "milk\nbutter\n")
    // Once it may write again, typing goes on.
    try pair.setAccess("write")
    let again = try pair.ben.user.startInitialized()
    let last = try ModelClient(again, note: again.request("notes/open", ["id": .string(pair.ana.id)]))
    try again.waitFor("the news") { try status(again, last.uri)["access"] == "write" }
    last.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([pair.ana.client, last], checked: false)
    #expect(pair.ana.client.text.string == "oat milk\nbutter\n")
  }

  @Test func whatWasWrittenToTheClosedFileBeforeTheNewsCameIsKeptToo() throws {
    let pair = try Pair("write")
    pair.ben.client.close()
    let path = try #require(pair.joined["path"]?.stringValue)
    try pair.ben.process.shutdown()
    let offline = try pair.ben.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Ben")
    try "by hand\nmilk\n".write(toFile: path, atomically: true, encoding: .utf8)
    _ = try offline.request("notes/open", ["id": .string(pair.ana.id)])
    try offline.shutdown()
    try pair.setAccess("read")
    let process = try pair.ben.user.startInitialized()
    let refused = try event(process, "refused")
    let copy = try String(contentsOfFile: try #require(refused["recovered"]?.stringValue), encoding: .utf8)
    #expect(copy == "by hand\nmilk\n")
    try process.waitFor("the file to be the note's") { try String(contentsOfFile: path, encoding: .utf8) == "milk\n" }
    #expect(pair.ana.client.text.string == "milk\n")
  }

  /// Ben types while Ana is not there, who makes the note read-only for him before she hears from him, or from `others`.
  private func typeAlone(_ words: String, _ pair: Pair, others: [JoinedNote] = []) throws -> NotesProcess {
    try pair.ana.process.shutdown()
    pair.ben.client.edit(0..<0, with: words)
    pair.ben.client.flush()
    try ModelClient.waitForConvergence([pair.ben.client] + others.map(\.client), checked: false)
    let guests = ([pair.ben] + others).map(\.process.child.processId)
    for guest in guests { kill(guest, SIGSTOP) }
    defer { for guest in guests { kill(guest, SIGCONT) } }
    let host = try pair.ana.user.startInitialized()
    try host.request(
      "notes/setAccess", ["id": .string(pair.ana.id), "peer": .string(pair.benPeer), "access": "read"])
    return host
  }

  @Test func whatWasRemovedDoesNotComeBackOutOfTheJournalOfAKilledProcess() throws {
    let pair = try Pair("write")
    let host = try typeAlone("alone ", pair)
    let refused = try NotesProcess.event("refused", of: pair.ben.process, [host])
    let path = try #require(refused["recovered"]?.stringValue)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "alone milk\n")
    try NotesProcess.wait(for: "the host's text", of: [host, pair.ben.process]) {
      pair.ben.client.text.string == "milk\n"
    }
    try NotesProcess.wait(for: "both in sync", of: [host, pair.ben.process]) {
      try status(pair.ben.process, pair.ben.client.uri)["peers"]?[0]?["state"] == "inSync"
    }
    // The journal of this process still has the words.
    try pair.ben.process.kill()
    try host.request(
      "notes/setAccess", ["id": .string(pair.ana.id), "peer": .string(pair.benPeer), "access": "write"])
    let again = try pair.ben.user.startInitialized()
    let client = try ModelClient(again, note: again.request("notes/open", ["id": .string(pair.ana.id)]))
    try NotesProcess.wait(for: "the news", of: [again, host]) { try status(again, client.uri)["access"] == "write" }
    client.edit(0..<0, with: "oat ")
    client.flush()
    let ana = try ModelClient(host, note: host.request("notes/open", ["id": .string(pair.ana.id)]))
    try ModelClient.waitForConvergence([ana, client], checked: false)
    #expect(ana.text.string == "oat milk\n")
    #expect(try again.request("notes/recovered")["texts"]?.arrayValue?.count == 1)
  }

  @Test(arguments: ["access", "refused", "a copy"])
  func aGuestThatIsKilledWhileItRemovesWordsLosesNoneAndKeepsThemOnce(moment: String) throws {
    let pair = try Pair("write")
    let host = try typeAlone("alone ", pair)
    let folder = pair.ben.user.notes + "/.recovered"
    if moment == "a copy" {
      // Read neither from nor about: the process is killed as soon as anything of what it does can be seen.
      try host.waitFor("the copy") { FileManager.default.fileExists(atPath: folder) }
    } else {
      _ = try NotesProcess.event(moment, of: pair.ben.process, [host])
    }
    try pair.ben.process.kill()
    let again = try pair.ben.user.startInitialized()
    let client = try ModelClient(again, note: again.request("notes/open", ["id": .string(pair.ana.id)]))
    try NotesProcess.wait(for: "the host's text", of: [again, host]) {
      try client.text.string == "milk\n" && status(again, client.uri)["peers"]?[0]?["state"] == "inSync"
    }
    let texts = try again.request("notes/recovered")["texts"]?.arrayValue ?? []
    let copies = try texts.map { try String(contentsOfFile: $0["path"]?.stringValue ?? "", encoding: .utf8) }
    #expect(copies == ["alone milk\n"])
  }

  /// - Parameter isHalted: whether the processes are connected only after the one with the network was told.
  @Test(arguments: [false, true])
  func aProcessOfTheGuestWithoutTheNetworkGoesBackAndHearsOfItToo(isHalted: Bool) throws {
    let pair = try Pair("write")
    pair.ben.client.close()
    try pair.ben.process.shutdown()
    let offline = try pair.ben.user.start(extra: ["--no-network"])
    try offline.initialize(userName: "Ben")
    let away = try ModelClient(offline, note: offline.request("notes/open", ["id": .string(pair.ana.id)]))
    away.edit(0..<0, with: "on the train ")
    try ModelClient.waitForConvergence([away])
    try pair.setAccess("read")
    if isHalted { kill(offline.child.processId, SIGSTOP) }
    defer { kill(offline.child.processId, SIGCONT) }
    let process = try pair.ben.user.startInitialized()
    if isHalted {
      _ = try NotesProcess.event("refused", of: process, [pair.ana.process])
      kill(offline.child.processId, SIGCONT)
    }
    let refused = try NotesProcess.event("refused", of: offline, [process, pair.ana.process])
    let path = try #require(refused["recovered"]?.stringValue)
    #expect(refused["uri"]?.stringValue == away.uri)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "on the train milk\n")
    try NotesProcess.wait(for: "the host's text", of: [offline, process, pair.ana.process]) {
      away.text.string == "milk\n"
    }
    try ModelClient.waitForConvergence([pair.ana.client, away], checked: false)
    #expect(pair.ana.client.text.string == "milk\n")
    #expect(try process.request("notes/recovered")["texts"]?.arrayValue?.count == 1)
  }

  @Test func whatAnotherGuestHasTakenMeanwhileIsEverybodys() throws {
    let pair = try Pair("write")
    let shared = try pair.ana.process.request("notes/share", ["id": .string(pair.ana.id)])
    let cleo = try JoinedNote("Cleo", ticket: try #require(shared["ticket"]?.stringValue))
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client, cleo.client], checked: false)
    // Ben and Cleo are linked without Ana.
    try NotesProcess.wait(for: "the guests", of: [pair.ana.process, pair.ben.process, cleo.process]) {
      try status(cleo.process, cleo.client.uri)["peers"]?.arrayValue?.count { $0["state"] == "inSync" } == 2
    }
    let host = try typeAlone("for Cleo ", pair, others: [cleo])
    let ana = try ModelClient(host, note: host.request("notes/open", ["id": .string(pair.ana.id)]))
    let all = [ana, pair.ben.client, cleo.client]
    try NotesProcess.wait(for: "Cleo's copy at Ana", of: all.map(\.process)) { ana.text.string == "for Cleo milk\n" }
    try NotesProcess.wait(for: "the news", of: all.map(\.process)) {
      try status(pair.ben.process, pair.ben.client.uri)["access"] == "read"
    }
    try ModelClient.waitForConvergence(all, checked: false)
    #expect(pair.ben.client.text.string == "for Cleo milk\n")
    #expect(events(pair.ben.process, "refused") == 0)
  }

  @Test func anotherProcessOfTheGuestKeepsToItAsWell() throws {
    let pair = try Pair("write")
    let second = try pair.ben.user.startInitialized()
    let other = try ModelClient(second, note: second.request("notes/open", ["id": .string(pair.ana.id)]))
    other.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client, other], checked: false)
    try pair.setAccess("read")
    let news = try event(second, "access")
    #expect(news["access"] == "read" && news["uri"]?.stringValue == other.uri)
    #expect(try status(second, other.uri)["access"] == "read")
    other.edit(0..<0, with: "too late ")
    other.flush()
    _ = try event(second, "refused")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client, other], checked: false)
    #expect(other.text.string == "oat milk\n")
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

  @Test func aHostHearsOfAGuestThatRemovesItsCopyForGood() throws {
    let pair = try Pair("write")
    try pair.ben.process.request("notes/delete", ["id": .string(pair.ana.id)])
    try pair.ben.process.request("notes/purge", ["id": .string(pair.ana.id)])
    // That Ben has closed it is told, too.
    _ = try pair.ana.process.waitForNotification("notes/event") {
      $0["kind"] == "left" && $0["name"] == "Ben" && $0["message"] == "Ben no longer shares \"Shopping\""
    }
    #expect(try status(pair.ana.process, pair.ana.client.uri)["peers"] == [])
    #expect(try pair.ana.process.request("notes/list")["notes"]?[0]?["shared"] == false)
  }

  @Test func aGuestHearsOfAHostThatRemovesTheNoteForGoodAndKeepsItsCopy() throws {
    let pair = try Pair("write")
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

  @Test(arguments: ["unshare", "setAccess", "remove"])
  func aGuestWithoutTheNoteIsNoLongerInIt(method: String) throws {
    let pair = try Pair("write")
    pair.ben.client.sendCursor(at: 0)
    func here() throws -> JSONValue? { try pair.ana.process.request("notes/list")["notes"]?[0]?["here"] }
    try NotesProcess.wait(for: "Ben", of: pair.processes) { try here() == ["Ben"] }
    let asked: JSONValue = ["id": .string(pair.ana.id), "peer": .string(pair.benPeer), "access": "none"]
    try pair.ana.process.request("notes/\(method)", asked)
    #expect(try here() == [])
  }

  @Test func aPeerBlockedByNameCanBeTrustedByNameAgain() throws {
    let pair = try Pair("write")
    for state in ["blocked", "trusted", "blocked", "forgotten"] {
      try pair.ana.process.request("notes/trust", ["peer": "ben", "state": .string(state)])
      let ben = try pair.ana.process.request("notes/peers")["peers"]?.arrayValue?.first { $0["name"] == "Ben" }
      #expect((ben?["state"] == "blocked") == (state == "blocked"))
    }
  }

  @Test func aPersonWithTheNoteIsNotInvitedAgainAndTheInviterIsTold() throws {
    let pair = try Pair("write")
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

extension NotesProcess {
  /// Waits for an event while other processes that bring it about are read, too.
  fileprivate static func event(
    _ kind: String, of process: NotesProcess, _ others: [NotesProcess]
  ) throws -> JSONValue {
    var found: JSONValue?
    try wait(for: kind, of: [process] + others) {
      let event = process.messages.first { $0["method"] == "notes/event" && $0["params"]?["kind"]?.stringValue == kind }
      found = event?["params"]
      return found != nil
    }
    return found ?? .null
  }
}
