import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Services that are killed at random moments: while they receive typing, commit, compact, or have just taken over the
/// network.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct KilledServiceTests {}

extension KilledServiceTests {
  /// The number of kills of all seeds together; they run at the same time. `make kills` sets 2,000.
  private static let kills = numbers(fromEnvironment: "NOTES_KILLS")?.first ?? 8
  private static let seeds = numbers(fromEnvironment: "NOTES_SEEDS") ?? [81]

  /// Two editors of one person in one note, and the state of their words.
  private final class Pair {
    let user: NotesUser
    let id: String
    let seed: UInt64
    var clients: [ModelClient?] = [nil, nil]
    var random: SeededGenerator
    var nextWord = 0
    /// Words that each client has sent; it shows them for as long as it lives.
    var sent: [[Int]] = [[], []]
    /// Words that a service has reported as stored.
    var persisted: Set<Int> = []
    var persistedCount = 0
    var kills = 0
    var longestStart = Duration.zero

    init(seed: UInt64) throws {
      self.seed = seed
      random = SeededGenerator(seed: seed)
      user = try NotesUser("Ana")
      let process = try user.startInitialized()
      id = try #require(try process.request("notes/create", ["title": "Killed", "text": "x\n"])["id"]?.stringValue)
      try process.shutdown()
    }

    var present: [ModelClient] { clients.compactMap(\.self) }

    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    /// Starts a new editor with a new service in each empty place.
    func start() throws {
      for index in clients.indices where clients[index] == nil {
        let process = try startService()
        clients[index] = try ModelClient(process, note: process.request("notes/open", ["id": .string(id)]))
        sent[index] = []
      }
    }

    private func startService() throws -> NotesProcess {
      let start = ContinuousClock.now
      let process = try user.startInitialized()
      longestStart = max(longestStart, ContinuousClock.now - start)
      return process
    }

    /// Types this many words into each editor. Sometimes types a lot at once, so that chunks are merged. A word may
    /// follow before the service has read the last one, or after it has answered once or twice.
    func type(_ count: Int) throws {
      for _ in 0..<count {
        for (index, client) in clients.enumerated() {
          guard let client else { continue }
          let filler = chance(12) ? String(repeating: "lorem ipsum \(nextWord) ", count: 600) + "\n" : ""
          let offset = lineStart(in: client.text.bytes)
          client.edit(offset..<offset, with: filler + "<\(nextWord)>\n")
          client.flush()
          sent[index].append(nextWord)
          nextWord += 1
          if chance(8) { try waitUntilStored(index) }
          for _ in 0..<Int.random(in: 0..<3, using: &random) { _ = try isStored(client) }
          try client.process.collect()
        }
      }
    }

    /// A place where no word splits another one.
    private func lineStart(in bytes: [UInt8]) -> Int {
      let place = Int.random(in: 0...bytes.count, using: &random)
      return bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }

    private func isStored(_ client: ModelClient) throws -> Bool {
      try client.process.request("notes/status", ["uri": .string(client.uri)])["stored"] == true
    }

    /// Waits until the service reports the typed words as stored.
    private func waitUntilStored(_ index: Int) throws {
      guard let client = clients[index] else { return }
      try client.process.waitFor("it is stored") { try isStored(client) }
      persisted.formUnion(sent[index])
    }

    /// Kills one service or both. An editor may outlive its service and continue with another, or die with it.
    func kill() throws {
      let victims = Int.random(in: 0..<3, using: &random)
      for index in clients.indices where victims == 2 || victims == index {
        guard let client = clients[index] else { continue }
        try client.process.kill()
        kills += 1
        if Bool.random(using: &random) {
          client.reattach(to: try startService())
        } else {
          clients[index] = nil
        }
      }
    }

    /// Expects in every buffer each word that was reported as stored or that a living editor has typed, and no word
    /// twice.
    func check() throws {
      try start()
      try ModelClient.waitForConvergence(present)
      let expected = persisted.union(sent.joined())
      for client in present {
        let words = client.text.string.matches(of: /<(\d+)>/).compactMap { Int($0.output.1) }
        let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
        let lost = expected.filter { counts[$0] == nil }.sorted()
        #expect(lost.isEmpty, "seed \(seed), after \(kills) kills: lost")
        let doubled = counts.filter { $0.value > 1 }.keys.sorted()
        #expect(doubled.isEmpty, "seed \(seed), after \(kills) kills: twice")
        expectNoComplaints(client, seed: seed)
      }
      persisted = expected
      try clear()
    }

    /// Clears the text: a growing one would only slow the test down.
    private func clear() throws {
      guard let client = present.first, client.text.bytes.count > 100_000 else { return }
      client.edit(0..<client.text.bytes.count, with: "x\n")
      client.flush()
      persistedCount += persisted.count
      persisted = []
      sent = [[], []]
      try ModelClient.waitForConvergence(present, checked: false)
    }
  }

  /// A note's history only grows, and each starting service has to load it: after this many kills, the test uses
  /// another note.
  private static let mostKillsOfANote = 25

  @Test(arguments: seeds) func wordsStandOnceAfterKills(seed: Int) throws {
    let wanted = max(1, Self.kills / Self.seeds.count)
    var (kills, words, expected, round) = (0, 0, 0, 0)
    var longestStart = Duration.zero
    while kills < wanted {
      let pair = try Pair(seed: UInt64(seed * 1000 + round))
      try drive(pair, upTo: min(Self.mostKillsOfANote, wanted - kills))
      kills += pair.kills
      words += pair.nextWord
      expected += pair.persistedCount
      longestStart = max(longestStart, pair.longestStart)
      round += 1
    }
    print(
      "seed \(seed): \(kills) kills, \(words) words typed, \(expected) of them had to be there once; longest start \(longestStart)"
    )
  }

  private func drive(_ pair: Pair, upTo count: Int) throws {
    while pair.kills < count {
      try pair.start()
      try pair.type(Int.random(in: 1...30, using: &pair.random))
      try pair.kill()
      // The remaining service receives typing while it takes over.
      try pair.type(Int.random(in: 0...8, using: &pair.random))
      if Int.random(in: 0..<4, using: &pair.random) == 0 { try pair.kill() }
      try pair.check()
    }
    pair.persistedCount += pair.persisted.count
    #expect(pair.persistedCount > 0, "seed \(pair.seed)")
    for client in pair.present { try client.process.shutdown() }
    let check = try pair.user.run(["fsck"])
    #expect(check.exit == .code(0), "\(check.output)")
  }

  /// Makes every fsync of the running service fail for a while.
  @Test func anFsyncThatFailsIsSaidAndEverythingIsStoredAfterwards() throws {
    let note = try OpenNote(text: "milk\n")
    func isStored() throws -> Bool {
      try note.process.request("notes/status", ["uri": .string(note.client.uri)])["stored"] == true
    }
    try note.process.waitFor("it is stored") { try isStored() }
    guard NotesBinary.find("strace") != nil else {
      print("SKIPPING failing fsyncs: there is no strace.")
      return
    }
    let strace = try ChildProcess([
      "strace", "-f", "-p", "\(note.process.child.processId)", "-e", "trace=fsync,fdatasync", "-e",
      "inject=fsync,fdatasync:error=EIO",
    ])
    do {
      try strace.wait(for: "strace", until: .now + Patience.hang) {
        String(decoding: $0.errorOutput, as: UTF8.self).contains("attached")
      }
    } catch {
      print("SKIPPING failing fsyncs: strace may not attach here.")
      return
    }
    for number in 0..<20 {
      note.client.edit(0..<0, with: "<\(number)>")
      note.client.flush()
    }
    try note.process.waitForNotification("notes/statusChanged") { $0["stored"] == false }
    try note.process.waitFor("a failed fsync") {
      strace.collect()
      return String(decoding: strace.errorOutput, as: UTF8.self).contains("EIO")
    }
    #expect(try !isStored())
    kill(strace.processId, SIGTERM)
    try strace.waitForExit()
    let start = ContinuousClock.now
    try note.process.waitFor("it is stored after all") { try isStored() }
    print("fsync works again: stored \(ContinuousClock.now - start) later")
    try note.process.kill()
    #expect(try note.user.storedText(of: note.id) == note.client.text.string)
    #expect(try note.user.run(["fsck"]).exit == .code(0))
    expectNoComplaints(note.client)
  }

  /// A new note is in the store when the service answers the request.
  @Test func aNoteMadeAMomentBeforeAKillIsThereAfterwards() throws {
    let user = try NotesUser("Ana")
    for number in 0..<5 {
      let process = try user.startInitialized()
      let note = try process.request("notes/create", ["title": "Made \(number)", "text": "milk \(number)\n"])
      try process.kill()
      let id = try #require(note["id"]?.stringValue)
      #expect(try user.storedText(of: id) == "milk \(number)\n")
    }
  }

  @Test func whatWasTypedAMomentBeforeAKillCanBeUndoneAfterwards() throws {
    let note = try OpenNote(text: "milk\n")
    let place: JSONValue = ["uri": .string(note.client.uri), "version": 1, "rev": 0]
    #expect(try note.process.request("notes/undo", place)["applied"] == false, "the creation is none of it")
    // Once this note is stored, so is everything before it.
    _ = try note.process.request("notes/create", ["title": "Another"])
    note.client.edit(0..<0, with: "oat ")
    note.client.flush()
    _ = try note.process.request("notes/status", ["uri": .string(note.client.uri)])
    try note.process.kill()
    let process = try note.user.startInitialized()
    note.client.reattach(to: process)
    try ModelClient.waitForConvergence([note.client])
    let now: JSONValue = [
      "uri": .string(note.client.uri), "version": JSONValue(note.client.version), "rev": JSONValue(note.client.rev),
    ]
    #expect(try process.request("notes/undo", now)["applied"] == true)
    try process.waitFor("the text before") { note.client.text.string == "milk\n" }
    #expect(try process.request("notes/undo", now)["applied"] == false)
    expectNoComplaints(note.client)
  }
}
