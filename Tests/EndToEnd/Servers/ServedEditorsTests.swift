import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Nine people on three servers with one PostgreSQL, while processes are killed, the database is stopped, and
/// connections are cut. A separate program judges the recorded history. It takes minutes, so only `make servers` runs
/// it, which sets `NOTES_SERVERS_REPORT` to the file for the judge's report.
@Suite(
  .ownThreads, .serialized,
  .enabled(
    if: ProcessInfo.processInfo.environment["NOTES_SERVERS_REPORT"] != nil, "minutes long: make servers runs it"),
  .enabled(
    if: Requirements.editors && Database.isThere, "SKIPPED: needs notes-lsp, the editors and PostgreSQL's server"))
struct ServedEditorsTests {
  private let environment = ProcessInfo.processInfo.environment
}

extension ServedEditorsTests {
  /// How long the database is stopped.
  private var away: Duration {
    .seconds(environment["NOTES_SERVERS_AWAY"].flatMap { Int($0) } ?? 60)
  }

  @Test func nothingIsLostWhateverIsKilledStoppedAndCut() throws {
    let report = environment["NOTES_SERVERS_REPORT"] ?? ""
    let seed = environment["NOTES_SERVERS_SEED"].flatMap { UInt64($0) } ?? 1
    let history = History(path: report + ".history")
    defer { try? history.write() }
    let room = try ServedRoom(seed: seed, history: history)
    try room.gather(withEditors: NeovimUnderTest.isHere)
    try room.type(for: .seconds(5))
    for number in 0..<3 {
      try suffer("`kill -9` of server \(number + 1)", in: room, for: .seconds(3)) {
        try room.kill(number)
      } heal: {
        try room.restart(number)
      }
    }
    try suffer("all connections cut, and refused", in: room, for: .seconds(5)) {
      try room.tellProxies("cut")
    } heal: {
      try room.tellProxies("pass")
    }
    try suffer("PostgreSQL stopped", in: room, for: away) {
      try room.database.stop()
    } heal: {
      try room.database.start()
    }
    try suffer("`kill -9` of all three servers at once", in: room, for: .seconds(3)) {
      for number in 0..<3 { try room.kill(number) }
    } heal: {
      for number in 0..<3 { try room.restart(number) }
    }
    try suffer("`kill -9` of a server while PostgreSQL is stopped", in: room, for: .seconds(5)) {
      try room.database.stop()
      try room.type(for: .seconds(2))
      try room.kill(1)
    } heal: {
      try room.database.start()
      try room.restart(1)
    }
    for case let typist as EditorTypist in room.typists {
      let kind = type(of: typist.editor).kind
      try suffer("`kill -9` of the service of \(kind)", in: room, for: .seconds(2)) {
        typist.editor.session.killService()
      } heal: {
      }
    }
    try room.type(for: .seconds(5))
    #expect(try room.waitForEqual(limit: Patience.hang))
    try room.waitUntilStored()
    try room.noteEnds()
    let last = try room.readLast()
    history.note("end", ["who": "Zoe", "text": .string(last)])
    try history.write()
    for case let typist as ModelTypist in room.typists { #expect(typist.complaints.isEmpty, "\(typist.complaints)") }
    let judge = NotesBinary.packageRoot + "/Tests/EndToEnd/check_history.py"
    let verdict = try ChildProcess.run(["python3", judge, history.path, report])
    let words = String(decoding: verdict.output + verdict.errorOutput, as: UTF8.self)
    print(words)
    #expect(verdict.exit == .code(0), "seed \(seed): \(words)")
  }

  /// Breaks something while people type, heals it, and waits until all buffers are equal.
  private func suffer(
    _ what: String, in room: ServedRoom, for duration: Duration, fault: () throws -> Void, heal: () throws -> Void
  ) throws {
    try room.type(for: .seconds(2))
    room.history.note("fault", ["what": .string(what)])
    try fault()
    try room.type(for: duration)
    try heal()
    room.history.note("heal", ["what": .string(what)])
    let isEqual = try room.waitForEqual(limit: Patience.hang)
    room.history.note("equal", ["what": .string(what)])
    #expect(isEqual, "after \(what) the buffers did not become equal")
  }
}
