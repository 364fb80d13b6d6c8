import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// Other programs and failures that affect the file of a note while it is open, or while the service writes it.
@AutomergeRepo struct OutsideWriteTests {
  // MARK: Open

  @Test func whatAnotherProgramWritesReachesTheOpenBuffer() async throws {
    let note = try await WatchedNote(seed: 61)
    try await note.open()
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    try await note.wait(for: "the edit") { note.service.sent.contains { $0["method"] == "notes/edit" } }
    let edit = note.service.sent.first { $0["method"] == "notes/edit" }
    #expect(edit?["params"]?["uri"]?.stringValue == note.uri)
  }

  /// A client without a plugin reads its file again before it answers the edit that has the same line.
  @Test func anAnswerThatComesAfterTheFileWasReadAgainSaysNothingOfALaterEdit() async throws {
    let note = try await WatchedNote(seed: 69, client: ["initializationOptions": ["applyEdits": true]])
    try await note.open()
    var offers: [JSONValue] { note.service.sent.filter { $0["method"] == "workspace/applyEdit" } }
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { offers.count == 1 }
    note.service.change(note.uri, "tea\nmilk\n", version: 2)
    let peer = note.handle.document.fork()
    let content = try #require(NoteDocument(peer)).content
    try peer.spliceText(obj: content, start: 0, delete: 0, value: "ham\n")
    try note.handle.take(peer.encodeChangesSince(heads: note.handle.document.heads()))
    try await note.wait(for: "the other line") { offers.count == 2 }
    let id = try #require(offers.first?["id"])
    note.service.send(["jsonrpc": "2.0", "id": id, "result": ["applied": false]])
    try await note.service.pass(.seconds(1))
    #expect(offers.count == 2)
    #expect(note.text == "ham\ntea\nmilk\n")
  }

  @Test func whatIsTypedMeanwhileIsMergedWithIt() async throws {
    let note = try await WatchedNote(seed: 62)
    try await note.open()
    note.service.change(note.uri, "eggs\ntea\n", version: 2)
    note.write("tea\nmilk\n")
    try await note.wait(for: "all three") { note.lines == ["eggs", "milk", "tea"] }
    note.close()
    try await note.wait(for: "the file") { note.fileLines == ["eggs", "milk", "tea"] }
    #expect(note.text == note.file)
  }

  /// The service first reads the file after the deletion, and finds there the text that the buffer was opened with.
  @Test func aLineThatIsDeletedAsSoonAsTheFileIsOpenedDoesNotComeBack() async throws {
    let note = try await WatchedNote(seed: 60)
    note.service.files.write(note.path, "tea\nmilk\n")
    note.service.open(note.uri, "tea\nmilk\n")
    note.service.change(note.uri, "tea\n", version: 2)
    try await note.wait(for: "the note") { note.service.binding(note.uri) != nil }
    try await note.service.pass(.seconds(1))
    #expect(note.text == "tea\n")
  }

  /// Another program writes between the editor's reading and the service's.
  @Test func norDoesOneIfAnotherProgramHasWrittenSinceTheEditorReadTheFile() async throws {
    let note = try await WatchedNote(seed: 68)
    // The file does not have other people's words yet.
    for _ in 0..<40 {
      try note.handle.change { document in
        let content = try #require(NoteDocument(document)).content
        try document.spliceText(obj: content, start: 0, delete: 0, value: "ham\n")
      }
    }
    note.service.files.write(note.path, "tea\nmilk\neggs\n", at: note.world.clock.date)
    note.service.open(note.uri, "tea\nmilk\n")
    note.service.change(note.uri, "tea\n", version: 2)
    try await note.wait(for: "the line") { note.lines.contains("eggs") }
    try await note.service.pass(.seconds(2))
    #expect(note.lines.filter { $0 != "ham" } == ["eggs", "tea"])
  }

  @Test func anUnfinishedFileDoesNotReachTheOpenBuffer() async throws {
    let note = try await WatchedNote(seed: 63)
    try await note.open()
    let texts = TextsSeen(of: note)
    note.write(inParts: ["", "te", "tea\nmilk\n"])
    try await note.waitForParts { note.text == "tea\nmilk\n" }
    #expect(texts.all == ["tea\nmilk\n"])
    #expect(try await note.service.recoveredTexts() == [])
  }

  /// The machine's calendar was set just after the write, or is not the file server's.
  @Test func norDoesOneThatSeemsToBeOld() async throws {
    let note = try await WatchedNote(seed: 70)
    try await note.open()
    let texts = TextsSeen(of: note)
    note.write(inParts: ["te", "tea\nmi", "tea\nmilk\n"], seemOld: true)
    try await note.waitForParts { note.text == "tea\nmilk\n" }
    #expect(texts.all == ["tea\nmilk\n"])
  }

  /// The system reported it just before the buffer was attached.
  @Test func norDoesItReachABufferThatOutlivesItsService() async throws {
    let note = try await WatchedNote(seed: 71)
    try await note.open()
    try await note.handle.flush()
    let texts = TextsSeen(of: note)
    note.write("tea\nmi")
    note.service.open(note.uri, "tea\n", reattach: true, run: note.service.service.run)
    let key = NoteKey(note.id)
    try await note.service.waitAsTimeStands(for: "the first look") {
      note.service.binding(note.uri) != nil && !note.service.service.openFiles.isBusy(key)
    }
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    #expect(texts.all == ["tea\nmilk\n"])
  }

  /// Nor a note that no buffer shows, when that changes at the same time.
  @Test func norDoesItReachANoteThatIsNotOpen() async throws {
    let note = try await WatchedNote(seed: 72)
    let texts = TextsSeen(of: note)
    let looks = Mutex(0)
    note.service.files.onLook.withLock { $0 = { _ in looks.withLock { $0 += 1 } } }
    note.write("tea\nmi")
    let work = Task { try await note.service.service.fileSync.synchronize(note.handle) }
    try await note.service.waitAsTimeStands(for: "the first look") { looks.withLock { $0 } > 0 }
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    try await work.value
    #expect(texts.all == ["tea\nmilk\n"])
  }

  /// The editor of another process had written the file after the last edit that its service sent it; then that was killed.
  @Test func whatOthersDeletedSinceAKilledProcessSentItToItsEditorStaysDeleted() async throws {
    let note = try await WatchedNote(seed: 73)
    try await note.open()
    let content = try #require(NoteDocument(note.handle.document)).content
    func change(_ offset: Int, delete: Int, insert: String = "") throws {
      try note.handle.change {
        try $0.spliceText(obj: content, utf8Offset: offset, deleteUTF8: delete, insert: Array(insert.utf8))
      }
    }
    let before = note.handle.document.heads()
    try change(4, delete: 0, insert: "ham\n")
    let peer = note.handle.document.fork(), shared = peer.heads()
    try change(8, delete: 0, insert: "milk\n")
    try peer.spliceText(obj: content, start: 4, delete: 4)
    try note.handle.take(peer.encodeChangesSince(heads: shared))
    #expect(note.text == "tea\nmilk\n")
    var client = ClientBase(base: TextBase(heads: before, steps: []), time: note.world.clock.date, opened: 1)
    client.sent(1, note.handle.document.heads())
    let item = client.item(NoteKey(note.id), run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    try await note.service.service.notebook.storage.commit([.save(item)])
    try change(4, delete: 5)
    note.write("tea\nmilk\neggs\n")
    try await note.wait(for: "the eggs") { note.lines.contains("eggs") }
    #expect(note.text == "tea\neggs\n")
  }

  @Test func theWordsOfAnOpenNoteOutliveTheRemovalOfItsFile() async throws {
    let note = try await WatchedNote(seed: 64)
    try await note.open()
    note.service.files[note.path] = nil
    note.folders.changed(note.path)
    try await note.service.pass(.seconds(1))
    #expect(note.text == "tea\n")
    note.service.change(note.uri, "tea\neggs\n", version: 2)
    note.close()
    try await note.wait(for: "the file") { note.file == "tea\neggs\n" }
    #expect(note.text == "tea\neggs\n")
  }

  @Test func aSaveThatDidNotReachTheFileIsNotBelieved() async throws {
    let note = try await WatchedNote(seed: 65)
    try await note.open()
    note.service.change(note.uri, "tea\neggs\n", version: 2)
    note.save()
    try await note.service.pass(.seconds(2))
    #expect(note.file == "tea\n")
    // The person reads the file again, and the editor shows it as it is.
    note.close()
    note.service.open(note.uri, "tea\n")
    try await note.wait(for: "the note") { note.service.binding(note.uri) != nil }
    #expect(note.text == "tea\neggs\n")
  }

  @Test func whatIsWrittenToTheFileOfAnOpenReadOnlyNoteIsKeptAndSaid() async throws {
    let note = try await WatchedNote(seed: 66)
    try await note.open()
    note.service.sharing.access = .read
    note.write("tea\nmilk\n")
    try await note.wait(for: "the warning") { !note.service.events("refused").isEmpty }
    #expect(note.text == "tea\n")
    #expect(try await note.service.recoveredTexts() == ["tea\nmilk\n"])
  }

  // MARK: Written by the service

  @Test func changesInAMomentAreWrittenOnce() async throws {
    let note = try await WatchedNote(seed: 67)
    let count = Mutex(0)
    note.service.files.onReplace.withLock { $0 = { _ in count.withLock { $0 += 1 } } }
    for line in ["milk", "eggs", "flour"] { try note.receive(line) }
    #expect(note.file == "tea\n")
    try await note.wait(for: "the file") { note.file == "flour\neggs\nmilk\ntea\n" }
    try await note.service.pass(.seconds(2))
    #expect(count.withLock { $0 } == 1)
  }

  @Test func aRefusedWriteIsTriedAgainAndLosesNothing() async throws {
    let note = try await WatchedNote(seed: 68)
    note.service.files.isFull.withLock { $0 = true }
    try note.receive("milk")
    try await note.service.pass(.seconds(2))
    #expect(note.file == "tea\n")
    // The write failed, so the file lacks "milk": the service must not treat that as another program's deletion.
    note.service.files.write(note.path, "tea\neggs\n")
    note.service.files.isFull.withLock { $0 = false }
    try await note.wait(for: "the file") { note.fileLines == ["eggs", "milk", "tea"] }
    #expect(note.text == note.file)
  }

  @Test func whatAnotherProgramWritesBetweenReadingAndWritingIsMerged() async throws {
    let note = try await WatchedNote(seed: 69)
    let (files, path) = (note.service.files, note.path)
    let isFirst = Mutex(true)
    files.onReplace.withLock {
      $0 = { _ in
        let isNow = isFirst.withLock { value in
          defer { value = false }
          return value
        }
        if isNow { files.write(path, "tea\neggs\n") }
      }
    }
    try note.receive("milk")
    try await note.wait(for: "the file") { note.fileLines == ["eggs", "milk", "tea"] }
    #expect(note.text == note.file)
  }
}
