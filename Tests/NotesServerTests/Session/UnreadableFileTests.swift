import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Another program writes bytes that are not UTF-8 to the file of a note.
@AutomergeRepo struct UnreadableFileTests {
  private let invalid = Array("tea\ncaf".utf8) + [0xE9, 0x0A]

  private func writeInvalid(_ note: WatchedNote, isJust: Bool = false) {
    note.write("", isJust: isJust)
    note.service.files[note.path] = invalid
  }

  private func told(_ note: WatchedNote) -> [String] {
    note.service.events("file").compactMap { $0["message"]?.stringValue }
  }

  private let bad = "Not UTF-8: file of \"Shopping\"; convert it to sync"
  private let good = "UTF-8 again: file of \"Shopping\"; syncing"

  private func status(_ note: WatchedNote) async throws -> String? {
    try await note.service.request("notes/status", ["uri": .string(note.uri)])["file"]?.stringValue
  }

  @Test func thePersonIsToldOnceAndTheWordsOfBothSidesAreThereInTheEnd() async throws {
    let note = try await WatchedNote(seed: 81)
    try await note.open()
    writeInvalid(note)
    try await note.wait(for: "the event") { told(note) == [bad] }
    #expect(try await status(note) == "notUTF8")
    note.service.change(note.uri, "eggs\ntea\n", version: 2)
    #expect(note.text == "eggs\ntea\n")
    // Looking again says nothing new, and nothing is overwritten.
    note.folders.changed(note.path)
    try await note.service.pass(.seconds(30))
    #expect(told(note) == [bad])
    #expect(note.service.files[note.path] == invalid)
    note.write("tea\ncafé\n")
    try await note.wait(for: "the other's line") { note.text == "eggs\ntea\ncafé\n" }
    #expect(told(note) == [bad, good])
    #expect(try await status(note) == nil)
    note.close()
    try await note.wait(for: "the file") { note.file == "eggs\ntea\ncafé\n" }
  }

  @Test func aClientWithoutAPluginIsToldToo() async throws {
    let note = try await WatchedNote(seed: 82, client: [:])
    try await note.open()
    writeInvalid(note)
    try await note.wait(for: "the message") {
      note.service.sent.contains {
        $0["method"] == "window/showMessage" && $0["params"]?["message"]?.stringValue?.contains(bad) == true
      }
    }
  }

  @Test func soIsOneWhoHasTheNoteClosed() async throws {
    let note = try await WatchedNote(seed: 83)
    writeInvalid(note)
    try await note.wait(for: "the event") { told(note) == [bad] }
    try note.receive("milk")
    try await note.service.pass(.seconds(30))
    #expect(note.service.files[note.path] == invalid)
    #expect(told(note) == [bad])
    note.write("tea\ncafé\n")
    try await note.wait(for: "the file") { note.file == "milk\ntea\ncafé\n" }
    #expect(note.text == "milk\ntea\ncafé\n")
    #expect(told(note) == [bad, good])
  }

  @Test func anEditorThatSavesOverItEndsThat() async throws {
    let note = try await WatchedNote(seed: 84)
    try await note.open()
    writeInvalid(note)
    try await note.wait(for: "the event") { told(note) == [bad] }
    note.service.change(note.uri, "tea\neggs\n", version: 2)
    note.write("tea\neggs\n")
    note.save()
    try await note.wait(for: "the end") { told(note) == [bad, good] }
    note.write("tea\neggs\nmilk\n")
    try await note.wait(for: "the other's line") { note.text == "tea\neggs\nmilk\n" }
  }

  @Test func aNoteThatIsClosedMeanwhileIsWrittenWhenTheFileIsTextAgain() async throws {
    let note = try await WatchedNote(seed: 85)
    try await note.open()
    writeInvalid(note)
    try await note.wait(for: "the event") { told(note) == [bad] }
    note.service.change(note.uri, "tea\neggs\n", version: 2)
    note.close()
    try await note.service.pass(.seconds(30))
    #expect(note.service.files[note.path] == invalid)
    note.write("milk\ntea\n")
    try await note.wait(for: "the file") { note.file == "milk\ntea\neggs\n" }
    #expect(note.text == "milk\ntea\neggs\n")
  }

  /// The letter's second byte is still to be written.
  @Test func aFileThatIsBeingWrittenIsWaitedFor() async throws {
    let note = try await WatchedNote(seed: 86)
    try await note.open()
    note.service.files.write(note.path, "", at: note.world.clock.date.addingTimeInterval(1))
    note.service.files[note.path] = Array("tea\ncaf".utf8) + [0xC3]
    note.folders.changed(note.path)
    try await note.service.pass(.milliseconds(500))
    note.write("tea\ncafé\n")
    try await note.wait(for: "the line") { note.text == "tea\ncafé\n" }
    #expect(told(note) == [])
  }

  @Test func aServiceThatStartsMeanwhileTellsAndTheWordsAreThereInTheEnd() async throws {
    let note = try await WatchedNote(seed: 87)
    try await note.open()
    note.service.change(note.uri, "tea\neggs\n", version: 2)
    writeInvalid(note)
    try await note.wait(for: "the event") { told(note) == [bad] }
    try await note.service.pass(.seconds(5))
    let run = note.service.service.run
    note.world.crash("ben")
    let next = ServiceUnderTest(note.world, files: note.service.files)
    let folders = MemoryFolders()
    try await next.start(watching: folders)
    next.open(note.uri, "tea\neggs\nham\n", reattach: true, run: run)
    try await next.wait(for: "the note") { next.binding(note.uri) != nil }
    try await next.wait(for: "the event") { next.events("file").count == 1 }
    #expect(next.text(of: note.id) == "tea\neggs\nham\n")
    #expect(next.files[note.path] == invalid)
    next.files.write(note.path, "milk\ntea\n")
    folders.changed(note.path)
    try await next.wait(for: "the other's line") { next.text(of: note.id) == "milk\ntea\neggs\nham\n" }
  }
}
