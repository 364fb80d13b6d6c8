import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Services that are killed at random moments: while they are typed into, commit, compact, or have just taken over.
@Suite(.ownThreads, .enabled(if: Requirements.binary, Requirements.binaryComment))
struct KilledServiceTests {
  /// `NOTES_KILLS` asks for more; a long run has at least 200.
  private static let kills = numbers(fromEnvironment: "NOTES_KILLS")?.first ?? 8
  private static let seeds = numbers(fromEnvironment: "NOTES_SEEDS") ?? [81]

  /// Two editors of one person in one note, and what is known of their words.
  private final class Pair {
    let user: NotesUser
    let id: String
    var clients: [ModelClient?] = [nil, nil]
    var random: SeededGenerator
    var nextWord = 0
    /// Words that each client has sent, and how many of them were sent before it last heard that all is stored.
    var sent: [[Int]] = [[], []]
    var persisted: Set<Int> = []
    var persistedCount = 0
    /// Words that are there twice: an editor and its service disagreed on who had them. Nothing is lost by that.
    var doubled: Set<Int> = []
    var kills = 0
    var longestStart = Duration.zero

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      user = try NotesUser("Ana")
      let process = try user.startInitialized()
      id = try #require(try process.request("notes/create", ["title": "Killed", "text": "x\n"])["id"]?.stringValue)
      try process.shutdown()
    }

    /// Gives each place that is empty a new editor with a new service.
    func start() throws {
      for index in clients.indices where clients[index] == nil {
        let start = ContinuousClock.now
        let process = try user.startInitialized()
        longestStart = max(longestStart, ContinuousClock.now - start)
        clients[index] = try ModelClient(process, note: process.request("notes/open", ["id": .string(id)]))
        sent[index] = []
      }
    }

    /// Types for a while, sometimes a lot at once so that chunks are merged, and now and then asks whether all is stored.
    func type(for duration: Duration) throws {
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end {
        for (index, client) in clients.enumerated() {
          guard let client else { continue }
          let isLong = Int.random(in: 0..<12, using: &random) == 0
          let filler = isLong ? String(repeating: "lorem ipsum \(nextWord) ", count: 600) + "\n" : ""
          let offset = lineStart(in: client.text.bytes)
          client.edit(offset..<offset, with: filler + "<\(nextWord)>\n")
          client.flush()
          sent[index].append(nextWord)
          nextWord += 1
          if Int.random(in: 0..<8, using: &random) == 0 { try waitUntilStored(index) }
          try client.process.collect()
        }
        if let process = clients.compactMap(\.?.process).first {
          let pause = ContinuousClock.now + .milliseconds(Int.random(in: 0...25, using: &random))
          try? process.waitFor("the next key", within: pause - .now) { false }
        }
      }
    }

    /// Where words do not tear each other apart.
    private func lineStart(in bytes: [UInt8]) -> Int {
      let place = Int.random(in: 0...bytes.count, using: &random)
      return bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }

    /// Goes on typing as soon as what was typed is called stored, or after a while.
    private func waitUntilStored(_ index: Int) throws {
      guard let client = clients[index] else { return }
      let end = ContinuousClock.now + .milliseconds(500)
      while ContinuousClock.now < end {
        let status = try client.process.request("notes/status", ["uri": .string(client.uri)])
        if status["stored"] == true { return persisted.formUnion(sent[index]) }
      }
    }

    /// Kills one service or both. An editor may outlive its service and go on with another, or go down with it.
    func kill() throws {
      let victims = Int.random(in: 0..<3, using: &random)
      for index in clients.indices where victims == 2 || victims == index {
        guard let client = clients[index] else { continue }
        try client.process.kill()
        kills += 1
        if Bool.random(using: &random) {
          let start = ContinuousClock.now
          let process = try user.startInitialized()
          longestStart = max(longestStart, ContinuousClock.now - start)
          client.reattach(to: process)
        } else {
          clients[index] = nil
        }
      }
    }

    /// Expects every persisted word in every buffer.
    func check(_ seed: UInt64) throws {
      try start()
      let present = clients.compactMap(\.self)
      try ModelClient.waitForConvergence(present, within: .seconds(60))
      for client in present {
        let words = client.text.string.matches(of: /<(\d+)>/).compactMap { Int($0.output.1) }
        let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
        doubled.formUnion(counts.filter { $0.value > 1 }.keys)
        let lost = persisted.filter { counts[$0] == nil }
        #expect(lost.isEmpty, "seed \(seed), after \(kills) kills: lost what was stored")
        // What an editor still shows is not lost either, whatever was stored.
        expectNoComplaints(client, seed: seed)
      }
      // An ever larger text would only make this slow.
      if let client = present.first, client.text.bytes.count > 200_000 {
        client.edit(0..<client.text.bytes.count, with: "x\n")
        client.flush()
        persistedCount += persisted.count
        persisted = []
        sent = [[], []]
        try ModelClient.waitForConvergence(present, within: .seconds(60))
      }
    }
  }

  @Test(arguments: seeds) func nothingThatWasCalledStoredIsLost(seed: Int) throws {
    let pair = try Pair(seed: UInt64(seed))
    while pair.kills < Self.kills {
      try pair.start()
      try pair.type(for: .milliseconds(Int.random(in: 20...600, using: &pair.random)))
      try pair.kill()
      // The one that is left is typed into while it takes over.
      try pair.type(for: .milliseconds(Int.random(in: 0...200, using: &pair.random)))
      try pair.check(UInt64(seed))
    }
    pair.persistedCount += pair.persisted.count
    #expect(pair.persistedCount > 0, "seed \(seed)")
    for client in pair.clients.compactMap(\.self) { try client.process.shutdown() }
    let check = try pair.user.run(["fsck"])
    #expect(check.exit == .code(0), "\(check.output)")
    print(
      "\(pair.kills) kills, \(pair.nextWord) words typed, \(pair.persistedCount) called stored, none of them lost, \(pair.doubled.count) doubled; longest start to initialize \(pair.longestStart)"
    )
  }

  /// Every fsync of the running service fails for a while.
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
      try strace.wait(for: "strace", until: .now + .seconds(10)) {
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
}
