import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Words that a read-only note refuses survive a full disk, and the person always knows where they are.
@AutomergeRepo struct FullDiskTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 8)))
  private let uri = "file:///notes/Shopping.md"

  /// A service with a note that has become read-only.
  private func readOnlyNote() async throws -> ServiceUnderTest {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    _ = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    ben.sharing.access = .read
    return ben
  }

  private func isStored(_ ben: ServiceUnderTest) async throws -> JSONValue? {
    try await ben.request("notes/status", ["uri": .string(uri)])["stored"]
  }

  @Test func refusedWordsAreHeldUntilTheDiskHasRoomAndSoItIsSaid() async throws {
    let ben = try await readOnlyNote()
    let store = try #require(world.stores["ben"])
    store.failSaves(.max)
    ben.files.isFull.withLock { $0 = true }
    ben.change(uri, "tea\nmilk\n", version: 2)
    try await ben.wait(for: "the warning") { !ben.events("notStored").isEmpty }
    #expect(
      ben.events("notStored").map { $0["message"] }
        == ["WARNING: words of \"Shopping\" are not stored: disk full"])
    #expect(try await isStored(ben) == false)
    let later = world.clock.now + .seconds(3)
    try await ben.wait(for: "several attempts") { world.clock.now >= later }
    #expect(ben.events("refused").isEmpty && ben.events("recovered").isEmpty)

    store.failSaves(0)
    ben.files.isFull.withLock { $0 = false }
    try await ben.wait(for: "the copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == ["tea\nmilk\n"])
    let path = try #require(ben.events("recovered").first?["recovered"]?.stringValue)
    #expect(ben.files[path] == Array("tea\nmilk\n".utf8))
    try await ben.wait(for: "the note to be stored") { ben.binding(uri)?.handle.isStored ?? false }
    #expect(try await isStored(ben) == true)
    #expect(ben.events("notStored").count == 1)
  }

  @Test func noCopyIsAnnouncedThatHasNoFileYet() async throws {
    let ben = try await readOnlyNote()
    ben.files.isFull.withLock { $0 = true }
    ben.change(uri, "tea\nmilk\n", version: 2)
    try await ben.wait(for: "the warning") { !ben.events("notStored").isEmpty }
    #expect(ben.events("refused").isEmpty && ben.events("recovered").isEmpty)

    ben.files.isFull.withLock { $0 = false }
    try await ben.wait(for: "the copy") { !ben.events("recovered").isEmpty }
    let path = try #require(ben.events("recovered").first?["recovered"]?.stringValue)
    #expect(ben.files[path] == Array("tea\nmilk\n".utf8))
    #expect(ben.events("recovered").count == 1)
  }

  @Test func whatABufferIsAboutToTellOfIsNotToldTwice() async throws {
    let ben = try await readOnlyNote()
    ben.change(uri, "tea\nmilk\n", version: 2)
    // The service does this a second after its start, or when another process asks it to.
    ben.service.recoveredTexts.tellSoon(after: .milliseconds(100))
    try await ben.wait(for: "the news") { !ben.events("refused").isEmpty }
    try await ben.pass(.seconds(2))
    #expect(ben.events("refused").count == 1)
    #expect(ben.events("recovered").isEmpty)
  }

  @Test func theCopyHasWhatWasTypedLastThoughAnEarlierStageWasWritten() async throws {
    let ben = try await readOnlyNote()
    ben.change(uri, "tea\nm\n", version: 2)
    try await ben.wait(for: "the first stage") { !ben.events("refused").isEmpty }
    ben.files.isFull.withLock { $0 = true }
    ben.change(uri, "tea\nmilk\n", version: 3)
    try await ben.wait(for: "the warning") { !ben.events("notStored").isEmpty }
    ben.files.isFull.withLock { $0 = false }
    try await ben.wait(for: "the copy") { !ben.events("recovered").isEmpty }
    let path = try #require(ben.events("recovered").first?["recovered"]?.stringValue)
    #expect(ben.files[path] == Array("tea\nmilk\n".utf8))
  }
}
