import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A note's file that a person renames or moves with another program while no editor has the note open.
@AutomergeRepo struct MovedFilesTests {
  /// Renames the file as `mv` does; the system reports both names.
  private func move(_ note: WatchedNote, to path: String, isReported: Bool = true) {
    note.service.files[path] = note.service.files[note.path]
    note.service.files[note.path] = nil
    guard isReported else { return }
    note.folders.changed(note.path)
    note.folders.changed(path)
  }

  private func record(_ note: WatchedNote) -> NoteRecord? { note.service.service.notebook[note.id] }

  private func text(_ note: WatchedNote, _ path: String) -> String? {
    note.service.files[path].map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func aRenamedFileStaysTheNotesAndNamesIt() async throws {
    let note = try await WatchedNote(seed: 81)
    move(note, to: "/notes/Groceries.md")
    try await note.wait(for: "the new path") { record(note)?.path == "/notes/Groceries.md" }
    #expect(record(note)?.title == "Groceries")
    #expect(NoteDocument(note.handle.document)?.title == "Groceries")
    try note.receive("milk")
    try await note.wait(for: "the line") { text(note, "/notes/Groceries.md") == "milk\ntea\n" }
    #expect(note.file == nil)
  }

  @Test func anEditorThatOpensTheMovedFileHasTheNote() async throws {
    let note = try await WatchedNote(seed: 82)
    // The folder is not watched.
    let path = "/notes/archive/Shopping.md", uri = "file://" + path
    move(note, to: path, isReported: false)
    note.service.open(uri, "tea\n")
    try await note.wait(for: "the note") { note.service.binding(uri)?.id == note.id }
    #expect(record(note)?.title == "Shopping")
    note.service.change(uri, "tea\nmilk\n", version: 2)
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    #expect(note.file == nil)
  }

  /// An editor renames the file of a buffer whose last words are not saved, and opens the buffer under the new name.
  @Test func aFileThatIsMovedBesideUnsavedWordsIsTheNotes() async throws {
    let note = try await WatchedNote(seed: 92)
    let path = "/notes/Shopping.md", uri = "file://" + note.path
    note.service.open(uri, "tea\n")
    try await note.wait(for: "the note") { note.service.binding(uri) != nil }
    note.service.change(uri, "tea\nmilk\n", version: 2)
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    let new = "/notes/archive/Later.md"
    move(note, to: new, isReported: false)
    note.service.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    note.service.open("file://" + new, "tea\nmilk\n")
    // The file would soon be written again at its old place.
    try await note.service.waitAsTimeStands(for: "the note again") {
      note.service.binding("file://" + new)?.id == note.id
    }
    #expect(record(note)?.path == new && record(note)?.title == "Later" && note.text == "tea\nmilk\n")
    try await note.service.pass(.seconds(5))
    #expect(note.service.files[path] == nil)
  }

  /// A program that was started in a linked folder knows only where the link leads.
  @Test func aMovedFileOfALinkedFolderIsKnownByItsRealPath() async throws {
    let note = try await WatchedNote(seed: 90)
    let path = "/notes/archive/Shopping.md", uri = "file:///disk/notes/archive/Shopping.md"
    move(note, to: path, isReported: false)
    note.service.open(uri, "tea\n")
    try await note.wait(for: "the note") { note.service.binding(uri)?.id == note.id }
    #expect(record(note)?.path == path)
  }

  @Test func whatIsTypedBeforeTheFileIsRecognizedIsInTheNote() async throws {
    let note = try await WatchedNote(seed: 83)
    let path = "/notes/archive/Shopping.md", uri = "file://" + path
    move(note, to: path, isReported: false)
    note.service.open(uri, "tea\n")
    note.service.change(uri, "tea\nmilk\n", version: 2)
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    #expect(note.service.binding(uri)?.id == note.id)
  }

  @Test func aFileThatWasRenamedWhileNoServiceRanIsTheNotesFromTheStart() async throws {
    let note = try await WatchedNote(seed: 88)
    move(note, to: "/notes/Groceries.md", isReported: false)
    let next = ServiceUnderTest(note.world, files: note.service.files)
    try await next.start(watching: MemoryFolders())
    try await next.wait(for: "the new path") { next.service.notebook[note.id]?.path == "/notes/Groceries.md" }
    #expect(next.events("renamed").last?["path"] == "/notes/Groceries.md")
  }

  @Test func adoptingTheMovedFileMakesNoSecondNote() async throws {
    let note = try await WatchedNote(seed: 89)
    let path = "/notes/archive/Shopping.md"
    move(note, to: path, isReported: false)
    let adopted = try await note.service.request("notes/adopt", ["uri": .string("file://" + path)])
    #expect(adopted["id"] == .string(note.id.description))
    #expect(record(note)?.path == path)
    #expect(note.service.service.notebook.records.count == 1)
  }

  @Test func aCopyIsNotTheNotes() async throws {
    let note = try await WatchedNote(seed: 84)
    note.service.files["/notes/Copy.md"] = note.service.files[note.path]
    note.folders.changed("/notes/Copy.md")
    note.service.open("file:///notes/Copy.md", "tea\n")
    try await note.service.pass(.seconds(5))
    #expect(record(note)?.path == note.path)
    #expect(note.service.binding("file:///notes/Copy.md") == nil)
  }

  @Test func neitherIsAnotherTextNorABackup() async throws {
    let note = try await WatchedNote(seed: 85)
    let text = note.service.files[note.path]
    note.service.files[note.path] = nil
    note.service.files["/notes/Other.md"] = Array("coffee\n".utf8)
    for name in ["Shopping.md~", ".Shopping.md"] { note.service.files["/notes/" + name] = text }
    for name in ["Shopping.md", "Other.md", "Shopping.md~", ".Shopping.md"] { note.folders.changed("/notes/" + name) }
    try await note.service.pass(.seconds(5))
    #expect(record(note)?.path == note.path)
  }

  @Test func ofTwoMissingFilesWithOneTextNeitherIsGuessed() async throws {
    let note = try await WatchedNote(seed: 86)
    let made = try await note.service.request("notes/create", ["title": "Twin", "text": "tea\n"])
    let twin = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    try await note.wait(for: "quiet") { !note.service.service.fileSync.isPlanned(twin) }
    note.service.files["/notes/Twin.md"] = nil
    move(note, to: "/notes/Groceries.md")
    try await note.service.pass(.seconds(5))
    #expect(record(note)?.path == note.path)
    #expect(note.service.service.notebook[twin]?.path == "/notes/Twin.md")
  }

  @Test func aFileThatIsOpenIsLeftToItsEditor() async throws {
    let note = try await WatchedNote(seed: 87)
    try await note.open()
    move(note, to: "/notes/Groceries.md")
    try await note.service.pass(.seconds(5))
    #expect(record(note)?.path == note.path)
    #expect(note.service.binding(note.uri)?.id == note.id)
  }
}
