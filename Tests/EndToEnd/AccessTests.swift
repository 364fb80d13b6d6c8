import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// People's access to a note: their editors always know it, and the service enforces it.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct AccessTests: HostAndGuestTests {}

extension AccessTests {
  @Test func whatOneMayDoIsSaidOnJoiningAndInTheStatusAndAfterARestartOffline() throws {
    let pair = try HostAndGuest("read")
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
    let pair = try HostAndGuest("write")
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
    // Ben keeps typing.
    pair.ben.client.edit(0..<0, with: "bread, ")
    pair.ben.client.flush()
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    #expect(pair.ana.client.text.string == "bread, milk\n")
    #expect(events(pair.ben.process, "refused") == 0)
  }

  @Test func aGuestWithTheNoteOpenMayWriteAsSoonAsItHasATicketForThat() throws {
    let pair = try HostAndGuest("read")
    let shared = try pair.ana.process.request("notes/share", ["id": .string(pair.ana.id), "access": "write"])
    let joined = try pair.ben.process.request("notes/join", ["ticket": shared["ticket"] ?? .null])
    #expect(joined["access"] == "write")
    let news = try event(pair.ben.process, "access")
    #expect(news["access"] == "write" && news["uri"]?.stringValue == pair.ben.client.uri)
    pair.ben.client.edit(0..<0, with: "bread, ")
    pair.ben.client.flush()
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    #expect(pair.ana.client.text.string == "bread, milk\n")
    #expect(events(pair.ben.process, "refused") == 0)
  }

  @Test func aGuestThatWasAwayHearsOfTheChangeWhenItIsBack() throws {
    let pair = try HostAndGuest("write")
    try pair.ben.process.shutdown()
    try pair.setAccess("read")
    try pair.ana.process.shutdown()
    let host = try pair.ana.user.startInitialized()
    let guest = try pair.ben.user.startInitialized()
    // Neither editor has the note open.
    try NotesProcess.wait(for: "the news", of: [host, guest]) { events(guest, "access") == 1 }
    #expect(try guest.request("notes/open", ["id": .string(pair.ana.id)])["access"] == "read")
  }

  @Test func whatIsTypedIntoAReadOnlyNoteIsKeptAndTakenBackAndTheDocumentsStayEqual() throws {
    let pair = try HostAndGuest("read")
    pair.ben.client.edit(0..<0, with: "Ben's words ")
    pair.ben.client.flush()
    let refused = try event(pair.ben.process, "refused")
    #expect(refused["message"]?.stringValue?.contains("Read-only") == true)
    #expect(refused["uri"]?.stringValue == pair.ben.client.uri)
    let path = try #require(refused["recovered"]?.stringValue)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "Ben's words milk\n")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    #expect(pair.ben.client.text.string == "milk\n")
    // The list of recovered texts has it, too, and the service has nothing left to send.
    let kept = try pair.ben.process.request("notes/recovered")["texts"]
    #expect(kept?[0]?["path"]?.stringValue == path)
    try NotesProcess.wait(for: "both in sync", of: pair.processes) {
      try [(pair.ana.process, pair.ana.client.uri), (pair.ben.process, pair.ben.client.uri)].allSatisfy {
        try status($0, $1)["peers"]?[0]?["state"] == "inSync"
      }
    }
    // The host's edits still arrive.
    pair.ana.client.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client])
    expectNoComplaints(pair.ana.client, pair.ben.client)
  }

  @Test func whatWasTypedOfflineBeforeTheNewsCameIsKeptAndTheDocumentsAreEqualAgain() throws {
    let pair = try HostAndGuest("write")
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
    // Once Ben may write again, he keeps typing.
    try pair.setAccess("write")
    let again = try pair.ben.user.startInitialized()
    let last = try ModelClient(again, note: again.request("notes/open", ["id": .string(pair.ana.id)]))
    try again.waitFor("the news") { try status(again, last.uri)["access"] == "write" }
    last.edit(0..<0, with: "oat ")
    try ModelClient.waitForConvergence([pair.ana.client, last], checked: false)
    #expect(pair.ana.client.text.string == "oat milk\nbutter\n")
  }

  @Test func whatWasWrittenToTheClosedFileBeforeTheNewsCameIsKeptToo() throws {
    let pair = try HostAndGuest("write")
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

  /// Ben types while Ana is offline; she makes the note read-only for him before she receives anything from him, or
  /// from `others`.
  private func typeAlone(_ words: String, _ pair: HostAndGuest, others: [JoinedNote] = []) throws -> NotesProcess {
    try pair.ana.process.shutdown()
    pair.ben.client.edit(0..<0, with: words)
    pair.ben.client.flush()
    try ModelClient.waitForConvergence([pair.ben.client] + others.map(\.client), checked: false)
    // Ben's process knows that they are there as well.
    try NotesProcess.wait(for: "the others' answers", of: ([pair.ben] + others).map(\.process)) {
      let peers = try status(pair.ben.process, pair.ben.client.uri)["peers"]?.arrayValue ?? []
      return peers.count { $0["state"] == "inSync" } == others.count
    }
    let guests = ([pair.ben] + others).map(\.process.child.processId)
    for guest in guests { kill(guest, SIGSTOP) }
    defer { for guest in guests { kill(guest, SIGCONT) } }
    let host = try pair.ana.user.startInitialized()
    try host.request(
      "notes/setAccess", ["id": .string(pair.ana.id), "peer": .string(pair.benPeer), "access": "read"])
    return host
  }

  @Test func whatWasRemovedDoesNotComeBackOutOfTheJournalOfAKilledProcess() throws {
    let pair = try HostAndGuest("write")
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
    let pair = try HostAndGuest("write")
    let host = try typeAlone("alone ", pair)
    let folder = pair.ben.user.notes + "/.recovered"
    if moment == "a copy" {
      // The test reads nothing from the process, and kills it as soon as the copy appears.
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

  /// - Parameter isHalted: whether the processes are connected only after the one with the network knows the new
  ///   access.
  @Test(arguments: [false, true])
  func aProcessOfTheGuestWithoutTheNetworkGoesBackAndHearsOfItToo(isHalted: Bool) throws {
    let pair = try HostAndGuest("write")
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
    let pair = try HostAndGuest("write")
    let shared = try pair.ana.process.request("notes/share", ["id": .string(pair.ana.id)])
    let cleo = try JoinedNote("Cleo", ticket: try #require(shared["ticket"]?.stringValue))
    try ModelClient.waitForConvergence([pair.ana.client, pair.ben.client, cleo.client], checked: false)
    // Ben and Cleo have a link without Ana.
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
    let pair = try HostAndGuest("write")
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
    let pair = try HostAndGuest("read")
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
    let pair = try HostAndGuest("read")
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
    let pair = try HostAndGuest("read")
    let copy = try pair.ben.process.request("notes/copy", ["uri": .string(pair.ben.client.uri)])
    #expect(copy["access"] == "write" && copy["id"] != .string(pair.ana.id))
    let path = try #require(copy["path"]?.stringValue)
    #expect(path.hasSuffix("/Shopping copy.md"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "milk\n")
  }
}

extension NotesProcess {
  /// Waits for an event, and meanwhile also reads the output of the other processes that cause it.
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
