import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// What a command reads from a store whose process was killed.
@AutomergeRepo struct StoreReaderTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
  private let log = WrittenJournal()
  private let uri = "file:///notes/List.md"

  /// Ben has the empty note "List" open.
  private func opened() async throws -> (ben: ServiceUnderTest, id: String) {
    let ben = ServiceUnderTest(world, journal: log)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "List"])
    ben.open(uri, "")
    try await ben.wait(for: "the buffer") { ben.session.editor.buffers[uri] != nil && !log.content.clients.isEmpty }
    return (ben, try #require(made["id"]?.stringValue))
  }

  private func stored(_ ben: ServiceUnderTest) async throws -> InMemoryStorage {
    let copy = InMemoryStorage()
    try await copy.commit(ben.service.notebook.storage.loadRange([]).map { .save($0) })
    return copy
  }

  /// The text, read by a command after Ben's process was killed with this in its store and this in the note's file.
  private func read(_ id: String, _ storage: InMemoryStorage, _ journal: [UInt8], file: String) async throws -> String?
  {
    let before = try await storage.loadRange([]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let files = MemoryFiles(), journals = LeftJournals(content: ["aa": journal])
    files.write("/notes/List.md", file)
    let reader = try await StoreReader(storage: storage, files: files, journals: journals)
    let text = try await reader.text(of: id)?.text
    let after = try await storage.loadRange([]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
    #expect(after == before, "it writes nothing")
    return text
  }

  @Test func wordsThatOnlyTheJournalOfAKilledProcessHasAreRead() async throws {
    let (ben, id) = try await opened()
    let storage = try await stored(ben)
    ben.change(uri, "milk\n", version: 2)
    #expect(try await read(id, storage, log.writings.flatMap(\.self), file: "") == "milk\n")
  }

  @Test func wordsThatTheEditorSavedAfterItsServiceWasKilledAreReadOnce() async throws {
    let (ben, id) = try await opened()
    ben.change(uri, "f\n", version: 2)
    try await ben.handle(of: try #require(DocumentId(id))).flush()
    let storage = try await stored(ben)
    #expect(try await read(id, storage, [], file: "first\nmilk\n") == "first\nmilk\n")
    #expect(try await read(id, storage, log.writings.flatMap(\.self), file: "milk\nfirst\n") == "milk\nfirst\n")
  }
}

/// The journals of dead processes, which a reader leaves alone.
private struct LeftJournals: JournalAccess {
  let content: [String: [UInt8]]

  func append(_ bytes: [UInt8]) -> Int? { nil }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) { Issue.record("a reader removed segments") }
  func end() { Issue.record("a reader ended a journal") }
  func abandon() { Issue.record("a reader ended a journal") }
  func read(_ run: String) async -> [UInt8]? { content[run] }
  func deadRuns() async -> [String] { content.keys.sorted() }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async { Issue.record("a reader removed a journal") }
}
