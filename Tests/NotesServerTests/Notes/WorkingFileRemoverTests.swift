import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Another program writes the file of a note or an item that is being deleted, and no system reports that.
@AutomergeRepo struct WorkingFileRemoverTests {
  enum Deletion: CaseIterable {
    case note, meeting, item
  }

  private let ben = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 29))))

  /// Makes what is to be deleted, with the text "tea".
  ///
  /// - Returns: the document, and the path of the file
  private func make(_ deletion: Deletion) async throws -> (DocHandle, String) {
    try await ben.start()
    let isNote = deletion == .note
    let made = try await ben.request(
      "notes/create", isNote ? ["title": "Drinks", "text": "tea\n"] : ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let path = isNote ? "/notes/Drinks.md" : "/notes/Weekly/Drinks.md"
    if !isNote {
      _ = try await ben.request("notes/addItem", ["id": .string(id.description), "title": "Drinks", "text": "tea\n"])
    }
    try await ben.wait(for: "the file") {
      ben.files[path] == Array("tea\n".utf8) && !ben.service.fileSync.isPlanned(id)
    }
    return (try await ben.handle(of: id), path)
  }

  /// A peer deletes the item, or for everyone the note or meeting.
  private func delete(_ deletion: Deletion, _ handle: DocHandle, _ path: String) async throws {
    let peer = handle.document.fork()
    if deletion == .item {
      let meeting = try #require(MeetingDocument(peer))
      for item in meeting.items { try meeting.delete(item) }
    } else {
      try NoteDocument.setDeletion(ben.world.clock.date, of: peer)
    }
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ben.service.fileSync.plan(handle)
    try await ben.wait(for: "the file to be gone") { ben.files[path] == nil }
    try await ben.pass(.seconds(3))
    #expect(ben.files[path] == nil)
  }

  private func item(of document: Document) -> String? {
    (NoteDocument(document) ?? MeetingDocument(document)?.items.first.flatMap { NoteDocument(document, item: $0) })
      .map { String(decoding: DocumentText($0).allUTF8, as: UTF8.self) }
  }

  @Test(arguments: [Deletion.note, .meeting]) func whatIsInAFileIsMergedBeforeItIsRemoved(deletion: Deletion)
    async throws
  {
    let (handle, path) = try await make(deletion)
    ben.files.write(path, "tea\nmilk\n")
    try await delete(deletion, handle, path)
    #expect(item(of: handle.document) == "tea\nmilk\n")
    #expect(try await ben.recoveredTexts().isEmpty)
  }

  @Test(arguments: Deletion.allCases)
  func whatAnotherProgramWritesAfterTheFileWasReadIsKeptAsARecoveredText(deletion: Deletion) async throws {
    let (handle, path) = try await make(deletion)
    ben.files.onRemove.withLock {
      $0 = { [files = ben.files] removed in
        files.onRemove.withLock { $0 = { _ in } }
        files.write(removed, "tea\nmilk\n")
      }
    }
    try await delete(deletion, handle, path)
    #expect(try await ben.recoveredTexts().sorted() == (deletion == .item ? ["tea\n"] : []) + ["tea\nmilk\n"])
  }

  @Test(arguments: [Deletion.note, .meeting]) func aFileThatIsNotUTF8IsKeptAsARecoveredText(deletion: Deletion)
    async throws
  {
    let (handle, path) = try await make(deletion)
    ben.files[path] = Array("tea caf".utf8) + [0xE9]
    try await delete(deletion, handle, path)
    #expect(try await ben.recoveredTexts() == ["tea caf\u{FFFD}"])
  }

  /// A file that breaks off in the middle of a line, and one with other line ends, have nothing that the note lacks.
  @Test(arguments: ["tea\n", "tea", "tea\r\n"]) func whatTheNoteHasIsNotKeptTwice(file: String) async throws {
    for deletion in [Deletion.note, .meeting] {
      let test = WorkingFileRemoverTests()
      let (handle, path) = try await test.make(deletion)
      test.ben.files.write(path, file)
      try await test.delete(deletion, handle, path)
      #expect(test.item(of: handle.document) == "tea\n")
      #expect(try await test.ben.recoveredTexts().isEmpty)
    }
  }

  /// A shell's `>` has emptied the file, and the program writes a moment later.
  @Test(arguments: Deletion.allCases) func aFileThatIsBeingWrittenIsReadOnceItIsComplete(deletion: Deletion)
    async throws
  {
    let (handle, path) = try await make(deletion)
    let (clock, files) = (ben.world.clock, ben.files)
    for (milliseconds, text) in [(-50, ""), (100, "milk\n")] {
      clock.schedule(after: WorkingFileSync.writeDelay + .milliseconds(milliseconds)) {
        files.write(path, text, at: clock.date)
      }
    }
    try await delete(deletion, handle, path)
    let texts = try await ben.recoveredTexts() + [item(of: handle.document) ?? ""]
    #expect(texts.contains("milk\n"))
  }
}
