import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The file of a note follows its title, while an editor opens the file or another program writes it.
@AutomergeRepo struct FollowedTitleTests {
  private let new = "/notes/Groceries.md"

  private func rename(_ note: WatchedNote) async throws {
    _ = try await note.service.request("notes/rename", ["id": .string(note.id.description), "title": "Groceries"])
  }

  /// Does this at the moment of the renaming, once.
  private func whenRenamed(_ note: WatchedNote, _ action: @escaping @AutomergeRepo () -> Void) {
    note.service.files.onMove.withLock {
      $0 = { [files = note.service.files, path = note.path] moved in
        guard moved == path else { return }
        files.onMove.withLock { $0 = { _ in } }
        await action()
      }
    }
  }

  private func text(_ note: WatchedNote, _ path: String) -> String? {
    note.service.files[path].map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func aFileThatIsOpenedAsItIsRenamedKeepsItsNameUntilItIsClosed() async throws {
    let note = try await WatchedNote(seed: 71)
    whenRenamed(note) { note.service.open(note.uri, "tea\n") }
    try await rename(note)
    try await note.wait(for: "the note") { note.service.binding(note.uri) != nil }
    #expect(note.file == "tea\n")
    #expect(text(note, new) == nil)
    #expect(note.service.service.notebook[note.id]?.path == note.path)
    // Other programs and the editor write to the file that the buffer shows.
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    note.close()
    try await note.wait(for: "the new name") { text(note, new) == "tea\nmilk\n" }
    #expect(note.file == nil)
  }

  @Test func soDoesOneWhoseNoteIsBeingOpened() async throws {
    let note = try await WatchedNote(seed: 72)
    // A text that must be compared first.
    whenRenamed(note) {
      note.service.files.write(note.path, "tea\nmilk\n")
      note.service.open(note.uri, "tea\nmilk\n")
    }
    try await rename(note)
    try await note.wait(for: "the note") { note.service.binding(note.uri) != nil }
    #expect(note.text == "tea\nmilk\n")
    #expect(note.file == "tea\nmilk\n")
    #expect(text(note, new) == nil)
    #expect(note.service.service.notebook[note.id]?.path == note.path)
  }

  /// The system reports that by the former name.
  @Test func whatAnotherProgramWritesAsTheFileIsRenamedIsTakenIn() async throws {
    let note = try await WatchedNote(seed: 73)
    whenRenamed(note) { note.write("tea\nmilk\n") }
    try await rename(note)
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    #expect(text(note, new) == "tea\nmilk\n")
    #expect(note.file == nil)
  }

  @Test func aFileThatAnotherProcessRenamedAsItWasOpenedHasItsNameAgain() async throws {
    let note = try await WatchedNote(seed: 74)
    let notebook = note.service.service.notebook
    var record = try #require(notebook[note.id])
    record.path = new
    try await notebook.storage.commit([.save(StoredItem(key: record.storageKey, data: record.encoded()))])
    note.service.files[new] = Array("tea\nmilk\n".utf8)
    note.service.files[note.path] = nil
    note.service.open(note.uri, "tea\nmilk\n")
    try await note.wait(for: "the note") { note.service.binding(note.uri) != nil }
    #expect(note.file == "tea\nmilk\n")
    #expect(text(note, new) == nil)
    #expect(notebook[note.id]?.path == note.path)
    #expect(note.text == "tea\nmilk\n")
  }
}
