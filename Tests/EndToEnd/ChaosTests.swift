import Automerge
import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Two people type at random in real editors, while everything happens to their note that can happen to a note: at the
/// end every word is in the note, or in a copy that its author was told of, and no status line was ever wrong.
///
/// `NOTES_CHAOS=200` runs as many seeds, `NOTES_CHAOS_SEEDS=17,18` just these.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct ChaosTests {}

extension ChaosTests {
  private static let seeds: [UInt64] =
    numbers(fromEnvironment: "NOTES_CHAOS_SEEDS")?.map { UInt64($0) }
    ?? (1...(numbers(fromEnvironment: "NOTES_CHAOS")?.first.map { UInt64(max(1, $0)) } ?? 2)).map(\.self)

  @Test(arguments: seeds) func everyWordTypedIsInTheNoteOrInACopy(seed: UInt64) throws {
    let chaos = try Chaos(seed: seed)
    do {
      try chaos.run()
      try chaos.settle()
      try chaos.check()
    } catch {
      Issue.record("\(error)\n\(chaos.report)")
    }
  }
}

/// One run: the two people, the events, and the record of what has happened so far.
private final class Chaos {
  private static let stepCount = 30
  private static let title = "Chaos"

  private let seed: UInt64
  private var random: SplitMix64
  private let host: ChaosPerson
  private let guest: ChaosPerson
  /// A second process of the host, for what the host does elsewhere.
  private var host2: NotesProcess?
  private let isMeeting: Bool
  private var id = ""
  private var events: [String] = []
  private var claimCount = 0
  private var isUnshared = false
  private var hasDeleted: Set<String> = []
  /// The people whose disk is full.
  private var full: Set<String> = []

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    let kinds: [any EditorUnderTest.Type] = [VimUnderTest.self, EmacsUnderTest.self, NeovimUnderTest.self]
    let pair = [(0, 1), (1, 2), (2, 0), (1, 0), (0, 2), (2, 1), (0, 0), (1, 1), (2, 2)][Int(seed % 9)]
    isMeeting = seed % 3 == 0
    host = try ChaosPerson("Ana", kinds[pair.0], key: "j", seed: seed)
    guest = try ChaosPerson("Ben", kinds[pair.1], key: "k", seed: seed &+ 500)
  }

  private var shell: NotesProcess {
    get throws {
      if let host2 { return host2 }
      // Started after the editor's service, which therefore has the network.
      let process = try host.user.startInitialized()
      host2 = process
      return process
    }
  }

  private var people: [ChaosPerson] { [host, guest] }
  private func isIntact(_ person: ChaosPerson) -> Bool { !hasDeleted.contains(person.user.name) }

  var report: String {
    let feet = people.map { "\($0.user.name) in \($0.kind.kind): \((try? $0.foot()) ?? "no screen")" }
    let told = people.map { "\($0.user.name)'s messages: …\(((try? $0.messages()) ?? "").suffix(1500))" }
    let logs = people.map { "\($0.user.name)'s service: …\($0.user.log.suffix(1200))" }
    return "seed \(seed)\(isMeeting ? ", a meeting" : "")\n" + (events + feet + told + logs).joined(separator: "\n")
  }

  private func did(_ event: String) { events.append("\(events.count + 1). \(event)") }

  // MARK: The run

  func run() throws {
    if isMeeting {
      try host.editor.perform(.meeting(Self.title))
      try host.editor.waitForScreen("No items yet")
      try host.editor.perform(.addItem(Self.title))
      id = try host.editor.waitUntilAttached()
    } else {
      try host.editor.createNote(Self.title)
      id = try host.editor.waitUntilAttached()
    }
    try invite()
    for _ in 0..<Self.stepCount {
      let person = people[random.below(2)]
      if random.chance(75) { try write(person) } else { try happen(to: person) }
      if random.chance(60) { try checkClaim(of: person) }
    }
  }

  private func write(_ person: ChaosPerson) throws {
    for _ in 0...random.below(3) { try person.typeWord(aboveLine: 1 + random.below(30)) }
  }

  private func invite() throws {
    let shared = try shell.request("notes/share", ["id": .string(id), "uses": 5])
    var tries = 0
    // Ben's buffer may already show the note: his copy stayed when Ana stopped sharing, and her caret a moment longer.
    try guest.editor.session.wait(for: "the note at Ben's, shared with Ana") {
      // A service that has just been killed answers nothing, and the person is told to try again.
      if tries.isMultiple(of: 100) { try? guest.editor.join(shared["ticket"]?.stringValue ?? "") }
      tries += 1
      let foot = try guest.foot()
      return try guest.editor.documentId() == id && foot.contains(/(Note\[|note: )[^\]]*Ana/)
        && !foot.contains("no longer shared")
    }
    isUnshared = false
  }

  private func happen(to person: ChaosPerson) throws {
    switch random.below(10) {
    case 0: try setAccess("read")
    case 1: try setAccess("write")
    case 2: try unshareOrInvite()
    case 3: try deleteOrRestore(person)
    case 4: try moveItem(person)
    case 5: try writeFromOutside(person)
    case 6:
      did("\(person.user.name) saves")
      try person.save()
    case 7:
      did("the service of \(person.user.name) is killed")
      person.editor.session.killService()
    case 8:
      let isFull = full.insert(person.user.name).inserted
      if !isFull { full.remove(person.user.name) }
      if try person.fillDisk(isFull) { did("\(person.user.name)'s disk \(isFull ? "is full" : "has room again")") }
    default: try killEditor(of: person)
    }
  }

  private func setAccess(_ access: String) throws {
    guard !isUnshared else { return }
    did("Ana gives Ben \(access)")
    guard let peer = try bensPeer() else { return }
    _ = try shell.respond("notes/setAccess", ["id": .string(id), "peer": .string(peer), "access": .string(access)])
    try waitForFoot(of: guest, "that the note is \(access == "read" ? "" : "not ")read-only") {
      $0.contains(/(Note\[|note: )[^\]]*read-only/) == (access == "read")
    }
  }

  private func bensPeer() throws -> String? {
    let peers = try shell.request("notes/peers")["peers"]?.arrayValue ?? []
    return peers.first { $0["name"] == "Ben" }?["peer"]?.stringValue
  }

  private func unshareOrInvite() throws {
    guard isIntact(host), isIntact(guest), full.isEmpty else { return }
    if isUnshared {
      did("Ana shares it again, and Ben joins")
      try invite()
    } else {
      did("Ana shares it no more")
      _ = try shell.respond("notes/unshare", ["id": .string(id)])
      isUnshared = true
      try waitForFoot(of: host, "that it is shared no more") { !$0.contains("synced with") }
      try waitForFoot(of: guest, "that it is shared no more") { $0.contains("no longer shared") }
    }
  }

  private func deleteOrRestore(_ person: ChaosPerson) throws {
    guard !isMeeting, !full.contains(person.user.name) else { return }
    if isIntact(person) {
      guard try person.editor.documentId() == id else { return }
      did("\(person.user.name) deletes it")
      try person.waitUntilSent()
      hasDeleted.insert(person.user.name)
      var tries = 0
      try person.editor.session.wait(for: "the deletion") {
        if try person.editor.documentId() == nil { return true }
        // A service that has just been killed answers nothing, and the person is told to try again.
        if tries.isMultiple(of: 50) { try? person.editor.deleteNote() }
        tries += 1
        return false
      }
    } else {
      did("\(person.user.name) undeletes it")
      try restore(person)
    }
  }

  private func restore(_ person: ChaosPerson) throws {
    var tries = 0
    try person.editor.session.wait(for: "the undeleted note") {
      if try person.editor.documentId() == id { return true }
      // A service that has just been killed answers nothing, and the person is told to try again.
      if tries.isMultiple(of: 50) { try? person.editor.undeleteNote(Self.title) }
      tries += 1
      return false
    }
    hasDeleted.remove(person.user.name)
  }

  private func moveItem(_ person: ChaosPerson) throws {
    guard isMeeting, try person.editor.documentId() == id else { return }
    if random.chance(40) {
      let title = "Point \(events.count)"
      did("Ana adds an item")
      _ = try shell.respond("notes/addItem", ["id": .string(id), "title": .string(title)])
    } else {
      did("\(person.user.name) moves the item")
      try person.editor.perform(.moveItem(1 + random.below(3)))
    }
  }

  private func writeFromOutside(_ person: ChaosPerson) throws {
    guard isIntact(person), !full.contains(person.user.name), let path = try person.editor.filePath(),
      let file = FileHandle(forWritingAtPath: path)
    else { return }
    let word = person.newWord()
    did("another program writes \(word) to \(person.user.name)'s file")
    try file.seekToEnd()
    try file.write(contentsOf: Data("\n\(word)\n".utf8))
    try file.close()
    person.expect(word)
  }

  private func killEditor(of person: ChaosPerson) throws {
    // A note cannot be opened if its file cannot be written.
    guard !full.contains(person.user.name), try isOpen(person) else { return }
    try person.waitUntilSent()
    did("the editor of \(person.user.name) is killed")
    try person.killEditor()
    // The new editor's service must get the network, so that it has something to prove.
    if person === host, let other = host2 {
      try other.shutdown()
      host2 = nil
    }
    try open(person)
  }

  private func open(_ person: ChaosPerson) throws {
    try person.editor.openNote(Self.title)
    try person.editor.session.wait(for: "the note in the new editor") { try person.editor.documentId() == id }
  }

  // MARK: What the screens say

  private func isOpen(_ person: ChaosPerson) throws -> Bool { try isIntact(person) && person.editor.documentId() == id }

  /// If the screen says that the other person has everything, that is true even if this service sends nothing more.
  private func checkClaim(of person: ChaosPerson) throws {
    let other = person === host ? guest : host
    guard !isUnshared, full.isEmpty, try isOpen(person), try isOpen(other) else { return }
    guard try person.claimsToBeSynced(with: other.user.name) else { return }
    person.haltService(true)
    defer { person.haltService(false) }
    let words = try person.wordsOnScreen()
    try other.editor.session.wait(for: "what \(person.user.name)'s screen says \(other.user.name) has: \(words)") {
      try words.isSubset(of: other.wordsOnScreen())
    }
    claimCount += 1
  }

  private func waitForFoot(of person: ChaosPerson, _ what: String, _ isRight: (String) -> Bool) throws {
    guard try isOpen(person) else { return }
    try person.editor.session.wait(for: "\(person.user.name)'s status line to say \(what)") {
      try isRight(person.foot())
    }
  }

  // MARK: The end

  /// Ends all faults that can be ended; then both people must have the same text.
  func settle() throws {
    for person in people { _ = try person.fillDisk(false) }
    // An editor that failed to write waits for a key.
    for person in people { try person.editor.settle() }
    for person in people where !isIntact(person) { try restore(person) }
    if isUnshared { try invite() }
    for person in people where try person.editor.documentId() != id { try open(person) }
    try setAccess("write")
    did("everything is right again")
    var states: [EditorState] = []
    do {
      try host.editor.session.wait(for: "equal texts") {
        try shell.collect()
        states = try people.compactMap { try $0.editor.state() }
        guard states.count == 2, states.allSatisfy(\.isSynced), states[0].text == states[1].text else { return false }
        return try stored() == states[0].text.trimmingCharacters(in: .newlines)
      }
    } catch {
      throw ProcessError.timedOut(waitingFor: "equal texts", details: "\(states.map(\.text))")
    }
    // The service may read another program's last words a little later. If it never does, the check names the lost
    // words.
    try? host.editor.session.wait(for: "every word") {
      let text = try host.editor.state()?.text ?? ""
      return try lostWords(in: text).isEmpty && guest.editor.state()?.text == text
    }
  }

  /// The words that are neither in the text nor in a copy.
  private func lostWords(in text: String) throws -> [String] {
    let absent = people.flatMap(\.words).filter { !text.contains($0) }
    guard !absent.isEmpty else { return [] }
    _ = try shell.respond("notes/recovered", [:])
    let copies = try people.flatMap { try $0.copies() }
    return absent.filter { word in !copies.contains { $0.contains(word) } }
  }

  private func stored() throws -> String? {
    guard !isMeeting else { return try host.editor.state()?.text.trimmingCharacters(in: .newlines) }
    let shown = try host.user.run(["show", id])
    return shown.exit == .code(0) ? shown.output.trimmingCharacters(in: .newlines) : nil
  }

  private func document() throws -> Document {
    // `NOTES_CHAOS_KEEP` names a folder that keeps it for a later analysis.
    let folder = ProcessInfo.processInfo.environment["NOTES_CHAOS_KEEP"] ?? host.user.home
    let path = "\(folder)/chaos-\(seed).automerge"
    _ = try shell.request("notes/export", ["id": .string(id), "path": .string(path), "replace": true])
    return try Document(Data(contentsOf: URL(fileURLWithPath: path)), textEncoding: .utf8)
  }

  func check() throws {
    let text = try host.editor.state()?.text ?? ""
    // The service writes recovered texts to files when the person asks for them.
    _ = try shell.respond("notes/recovered", [:])
    let other = try guest.user.startInitialized()
    _ = try other.respond("notes/recovered", [:])
    let copies = try people.flatMap { try $0.copies() }
    let absent = people.flatMap(\.words).filter { !text.contains($0) }
    let copied = absent.filter { word in copies.contains { $0.contains(word) } }
    var lost = absent.filter { !copied.contains($0) }
    if !lost.isEmpty {
      let judge = TornWord(in: try document())
      lost = try lost.filter { try !judge.explains($0) }
    }
    let tornCount = absent.count - copied.count - lost.count
    let twice = people.flatMap(\.words).filter { text.components(separatedBy: $0).count > 2 }
    for person in people where person.words.contains(where: copied.contains) {
      var (told, isTold) = ("", false)
      try? person.editor.session.wait(for: "news of a copy") {
        try person.read()
        told = try person.messages()
        isTold = told.contains("ecover") || told.contains("Deleted")
        return isTold
      }
      if !isTold {
        Issue.record("\(person.user.name) was not told of a copy\n\(report)\nmessages: \(told)")
      }
    }
    if !lost.isEmpty { Issue.record("lost: \(lost)\n\(report)\ntext: \(text.debugDescription)") }
    if !twice.isEmpty { Issue.record("twice: \(twice)\n\(report)\ntext: \(text.debugDescription)") }
    for (person, other) in [(host, guest.user.name), (guest, host.user.name)] {
      // A process without a network of its own has no proof of what the peer has.
      try waitForFoot(of: person, "synced with \(other)") { foot in
        ["synced with \(other)", "[with \(other)", ": with \(other)"].contains(where: foot.contains)
      }
    }
    print(
      "chaos, seed \(seed): \(host.words.count) and \(guest.words.count) words, \(events.count) events,"
        + " \(claimCount) times synced and so it was, \(copied.count) words in copies,"
        + " \(tornCount) torn")
    try shell.shutdown()
    try other.shutdown()
    for person in people { try person.editor.quit() }
  }
}
