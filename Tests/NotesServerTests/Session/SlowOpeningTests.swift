import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The messages to a person who opens a note that takes long to open, such as a large one.
struct SlowOpeningTests {
  @Test @AutomergeRepo func aNoteThatTakesOverASecondIsSaidToBeOpeningAndThenToBeOpen() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let ana = ServiceUnderTest(world)
    try await ana.start()
    let note = try await ana.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let uri = try #require(note["uri"]?.stringValue)
    let id = try #require(note["id"]?.stringValue.flatMap { DocumentId($0) })
    // Another process is merging the file, so the opening waits for it.
    let merging = ana.files.claim(NoteKey(id, item: nil).lockName, exclusively: true)
    #expect(merging != nil)
    ana.open(uri, "milk\ntea\n")
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    withExtendedLifetime(merging) {}
    let told = ana.events("progress")
    #expect(told.compactMap { $0["message"]?.stringValue } == ["Opening \"Shopping\"…", "Opened \"Shopping\""])
    #expect(told.allSatisfy { $0["uri"] == .string(uri) })
  }

  @Test @AutomergeRepo func nothingIsSaidOfOneThatOpensAtOnce() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let ana = ServiceUnderTest(world)
    try await ana.start()
    let note = try await ana.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let uri = try #require(note["uri"]?.stringValue)
    ana.open(uri, "milk\n")
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    try await ana.pass(.seconds(2))
    #expect(ana.events("progress").isEmpty)
  }
}
