import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// What a service does with the words that an editor kept because another service did not answer.
@AutomergeRepo struct UnsentTextsTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
  private let files = MemoryFiles()
  private let unsent = MemoryUnsent()

  /// A note "Tea" that an earlier service has stored.
  private func storedNote(_ text: String) async throws -> (id: String, uri: String) {
    let first = ServiceUnderTest(world, files: files)
    try await first.start()
    let made = try await first.request("notes/create", ["title": "Tea", "text": .string(text)])
    try await world.flush("ben")
    world.crash("ben")
    return (try #require(made["id"]?.stringValue), try #require(made["uri"]?.stringValue))
  }

  private func leave(
    _ text: String, of note: (id: String, uri: String), run: String = "aa", time: Int = 1_767_225_600_000
  ) {
    let content: JSONValue = [
      "id": .string(note.id), "uri": .string(note.uri), "run": .string(run), "time": .int(Int64(time)),
      "text": .string(text),
    ]
    unsent["tea.json"] = content.encoded()
  }

  private func nextService(_ journal: any JournalAccess = NoJournal()) async throws -> ServiceUnderTest {
    let next = ServiceUnderTest(world, files: files, journal: journal, unsent: unsent)
    try await next.start()
    return next
  }

  private func recovered(_ service: ServiceUnderTest) async throws -> [StoredItem] {
    try await service.service.notebook.storage.loadRange([RecoveredText.collection])
  }

  @Test func wordsThatTheNoteLacksAreARecoveredTextOfWhichThePersonIsTold() async throws {
    let note = try await storedNote("one\n")
    leave("one two\n", of: note)
    let next = try await nextService()
    try await next.wait(for: "the news") { !next.events("recovered").isEmpty }
    #expect(next.events("recovered").first?["copy"] == "a copy of \"Tea\"")
    #expect(unsent.names == [])
    let kept = try #require(try await recovered(next).first.flatMap { RecoveredText($0) })
    #expect(String(decoding: kept.text, as: UTF8.self) == "one two\n")
    #expect(kept.reason == UnsentText.reason)
  }

  /// Others may have added to the note since.
  @Test(arguments: ["one\n", "one two\n", "two\n", ""])
  func wordsThatTheNoteHasAreKeptNowhere(text: String) async throws {
    let note = try await storedNote("one two\n")
    leave(text, of: note)
    let next = try await nextService()
    try await next.wait(for: "no file") { unsent.names == [] }
    #expect(try await recovered(next) == [])
  }

  /// The service was killed after it had stored the text, and before it could remove the file.
  @Test func aFileThatIsTakenOverTwiceIsOneRecoveredText() async throws {
    let note = try await storedNote("one\n")
    leave("one two\n", of: note)
    let next = try await nextService()
    try await next.wait(for: "no file") { unsent.names == [] }
    leave("one two\n", of: note)
    next.service.recoveredTexts.takeOverUnsent()
    try await next.wait(for: "no file") { unsent.names == [] }
    #expect(try await recovered(next).count == 1)
  }

  @Test func aFileThatComesWhileAnotherIsTakenOverIsTakenOverToo() async throws {
    let note = try await storedNote("one\n")
    leave("one two\n", of: note)
    let next = try await nextService()
    var hasCome = false
    unsent.onRemove.withLock {
      $0 = { @AutomergeRepo in
        guard !hasCome else { return }
        hasCome = true
        leave("one three\n", of: note, time: 1_767_225_601_000)
        next.service.recoveredTexts.takeOverUnsent()
      }
    }
    try await next.wait(for: "no file") { hasCome && unsent.names == [] }
    #expect(try await recovered(next).count == 2)
  }

  @Test func theFileStaysAsLongAsItsServiceMayReadTheWords() async throws {
    let note = try await storedNote("one\n")
    leave("one two\n", of: note)
    let journal = LivingRun()
    let next = try await nextService(journal)
    try await next.pass(.seconds(3))
    #expect(unsent.names == ["tea.json"])
    #expect(try await recovered(next) == [])
    journal.isAlive.withLock { $0 = false }
    next.service.recoveredTexts.takeOverUnsent()
    try await next.wait(for: "no file") { unsent.names == [] }
    #expect(try await recovered(next).count == 1)
  }

  @Test(arguments: [
    "", "{", "[]", "{\"id\":\"x\",\"run\":\"\",\"time\":1,\"text\":\"\"}", "\u{0}",
    "{\"id\":\"ID\",\"run\":\"../..\",\"time\":1,\"text\":\"a\"}",
    "{\"id\":\"ID\",\"run\":\"\",\"time\":-1,\"text\":\"a\"}",
    "{\"id\":\"ID\",\"run\":\"\",\"time\":9000000000000000000,\"text\":\"a\"}",
    "{\"id\":\"ID\",\"run\":\"\",\"time\":1,\"text\":[\"a\"]}",
  ])
  func whatNoEditorHasWrittenIsLeftAlone(bytes: String) async throws {
    let note = try await storedNote("one\n")
    unsent["a.json"] = Array(bytes.replacing("ID", with: note.id).utf8)
    leave("one\n", of: note)
    let next = try await nextService()
    try await next.wait(for: "the other file") { unsent.names == ["a.json"] }
    #expect(try await recovered(next) == [])
  }
}

/// Files of editors, in memory.
private final class MemoryUnsent: UnsentFileAccess {
  private let files = Mutex<[String: [UInt8]]>([:])
  let folder = "/home/unsent"
  /// Called after a file was removed.
  let onRemove = Mutex<@Sendable () async -> Void>({})

  subscript(name: String) -> [UInt8]? {
    get { files.withLock { $0[name] } }
    set { files.withLock { $0[name] = newValue } }
  }

  var names: [String] { files.withLock { $0.keys.sorted() } }

  func names() async -> [String] { names }
  func read(_ name: String) async -> [UInt8]? { self[name] }
  func remove(_ name: String) async {
    self[name] = nil
    await onRemove.withLock { $0 }()
  }
}

/// The journal of a process that hangs.
private final class LivingRun: JournalAccess {
  let isAlive = Mutex(true)

  func append(_ bytes: [UInt8]) -> Int? { bytes.count }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { nil }
  func deadRuns() async -> [String] { [] }
  func livingRuns() async -> [String] { isAlive.withLock { $0 ? ["aa"] : [] } }
  func remove(_ run: String) async {}
}
