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

  /// A large note of one's own comes from the store, and from no peer.
  @Test @AutomergeRepo func aNoteThatIsReadForSecondsIsSaidToBeOpening() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let first = ServiceUnderTest(world)
    try await first.start()
    let note = try await first.request("notes/create", ["title": "Shopping", "text": "milk\n"])
    let uri = try #require(note["uri"]?.stringValue)
    try await first.pass(.seconds(5))
    world.crash("ben")
    let ben = ServiceUnderTest(world, files: first.files)
    try await ben.start()
    let store = try #require(world.stores["ben"])
    store.holdLoads()
    ben.open(uri, "milk\n")
    try await ben.pass(.seconds(5))
    #expect(ben.binding(uri) == nil && ben.events("waiting").isEmpty)
    #expect(ben.events("progress").compactMap { $0["message"]?.stringValue } == ["Opening \"Shopping\"…"])
    store.goOnLoading()
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.events("progress").last?["message"] == "Opened \"Shopping\"")
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
