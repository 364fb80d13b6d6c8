import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// How many words a note has, as commands read it from the store.
@AutomergeRepo struct CountedWordsTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 14)))
  private let log = WrittenJournal()
  private let uri = "file:///notes/List.md"

  /// Ben has the empty note "List" open.
  private func opened() async throws -> (ben: ServiceUnderTest, id: DocumentId) {
    let ben = ServiceUnderTest(world, journal: log)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "List"])
    ben.open(uri, "")
    try await ben.wait(for: "the buffer") { ben.binding(uri) != nil && !log.content.clients.isEmpty }
    return (ben, try #require(DocumentId(made["id"]?.stringValue)))
  }

  private func storedWords(_ ben: ServiceUnderTest) async throws -> [Int] {
    try await StoreReader(storage: ben.service.notebook.storage).notes().map(\.words)
  }

  /// The text is stored as soon as it is typed, and its words are counted when the person pauses.
  @Test func theWordsThatAreCountedAfterTheTextWasStoredAreStoredToo() async throws {
    let (ben, id) = try await opened()
    ben.change(uri, "before noon\n", version: 2)
    try await ben.handle(of: id).flush()
    #expect(try await storedWords(ben) == [0])
    try await ben.pass(.seconds(5))
    #expect(try await storedWords(ben) == [2])
  }

  @Test func theWordsThatAKilledProcessHadNotCountedAreCountedByACommand() async throws {
    let (ben, id) = try await opened()
    ben.change(uri, "before noon\n", version: 2)
    try await ben.handle(of: id).flush()
    world.crash("ben")
    let reader = try await StoreReader(
      storage: ben.service.notebook.storage, files: ben.files,
      journals: DeadJournal(bytes: log.writings.flatMap(\.self)))
    #expect(reader.notes().map(\.words) == [2])
  }

  @Test func theNextProcessCountsAndStoresTheWordsOfAKilledOne() async throws {
    let (ben, id) = try await opened()
    ben.change(uri, "before noon\n", version: 2)
    try await ben.handle(of: id).flush()
    world.crash("ben")
    let journal = DeadJournal(bytes: log.writings.flatMap(\.self))
    let next = ServiceUnderTest(world, files: ben.files, journal: journal)
    try await next.start()
    await next.service.settleJournals()
    #expect(next.service.notebook[id]?.words == 2)
    #expect(try await storedWords(next) == [2])
  }
}
