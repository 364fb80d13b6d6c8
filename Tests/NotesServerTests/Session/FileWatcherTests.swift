import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Other programs change the file of a note that no editor has open.
@AutomergeRepo struct FileWatcherTests {
  @Test func whatAnotherProgramWritesIsTakenIn() async throws {
    let note = try await WatchedNote(seed: 41)
    note.write("tea\nmilk\n")
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    try await note.service.pass(.seconds(1))
    #expect(note.text == "tea\nmilk\n")
    #expect(note.file == "tea\nmilk\n")
  }

  @Test func aFileThatCannotBeWrittenIsSaidOnceAndWrittenLater() async throws {
    let note = try await WatchedNote(seed: 53)
    let messages = {
      note.service.sent.filter { $0["method"] == "window/showMessage" }.compactMap {
        $0["params"]?["message"]?.stringValue
      }
    }
    for line in ["milk", "eggs"] {
      note.service.files.isFull.withLock { $0 = true }
      try note.receive(line)
      try await note.wait(for: "the warning") { !messages().isEmpty }
      try await note.service.pass(.seconds(12))
      #expect(messages() == ["Shopping.md could not be written; trying again"])
      note.service.files.isFull.withLock { $0 = false }
      try await note.wait(for: "the file") { note.file?.hasPrefix(line) ?? false }
      note.service.forgetSent()
    }
  }

  /// An editor wrote the file and its service was killed before it heard of that; another program added a line.
  /// In no text that the service knows the editor had only what the file has.
  @Test func aLineThatIsDeletedUntilTheFileIsMergedDoesNotComeBack() async throws {
    let note = try await WatchedNote(seed: 54)
    let uri = "file://" + note.path, service = note.service
    service.open(uri, "tea\n")
    try await note.wait(for: "the note") { service.binding(uri) != nil }
    service.change(uri, "kiwi\nlater\ntea\n", version: 2)
    try await note.wait(for: "the line") { note.text == "kiwi\nlater\ntea\n" }
    var isLookedAt = false
    service.files.onLook.withLock { $0 = { @AutomergeRepo _ in isLookedAt = true } }
    // When it is looked at first, it was written a moment ago.
    service.files.write(note.path, "kiwi\nfig\ntea\n", at: service.world.clock.date + 0.15)
    note.folders.changed(note.path)
    try await note.wait(for: "a look") { isLookedAt }
    await service.binding(uri)?.file.settle()
    #expect(note.text == "kiwi\nlater\ntea\n", "it may be unfinished")
    service.change(uri, "later\ntea\n", version: 3)
    try await note.wait(for: "the other program's line") { note.text?.contains("fig") ?? false }
    #expect(note.text == "fig\nlater\ntea\n" || note.text == "later\nfig\ntea\n")
  }

  @Test func thePersonIsToldThatBothVersionsOfALineAreKept() async throws {
    let note = try await WatchedNote(seed: 55)
    let uri = "file://" + note.path, service = note.service
    note.write("milk\ntea\neggs\n")
    try await note.wait(for: "the lines") { note.text == "milk\ntea\neggs\n" }
    service.open(uri, "milk\ntea\neggs\n")
    try await note.wait(for: "the note") { service.binding(uri) != nil }
    service.change(uri, "milk\ngreen\neggs\n", version: 2)
    try await note.wait(for: "the person's line") { note.text == "milk\ngreen\neggs\n" }
    note.write("milk\nblack\neggs\n")
    let messages = {
      service.sent.filter { $0["method"] == "window/showMessage" }.compactMap { $0["params"]?["message"]?.stringValue }
    }
    try await note.wait(for: "the news") { !messages().isEmpty }
    #expect(messages() == ["A line was changed here and in Shopping.md; both are kept"])
    #expect(note.text?.contains("black") ?? false && note.text?.contains("green") ?? false)
  }

  @Test func severalEventsInAMomentAreOneReading() async throws {
    let note = try await WatchedNote(seed: 42)
    let count = note.service.files.readCount(note.path)
    for _ in 0..<10 { note.write("tea\nmilk\n") }
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
    try await note.service.pass(.seconds(1))
    #expect(note.service.files.readCount(note.path) == count + 1)
  }

  @Test func aFileThatIsNotANotesIsNotRead() async throws {
    let note = try await WatchedNote(seed: 43)
    note.service.files.write("/notes/.Shopping.md.swp", "b0VIM")
    note.folders.changed("/notes/.Shopping.md.swp")
    try await note.service.pass(.seconds(1))
    #expect(note.service.files.readCount("/notes/.Shopping.md.swp") == 0)
  }

  @Test func aFileThatIsRenamedOverTheNotesFileIsTakenIn() async throws {
    let note = try await WatchedNote(seed: 44)
    let draft = "/notes/sedXy12"
    note.service.files.write(draft, "milk\n")
    note.folders.changed(draft)
    note.service.files[draft] = nil
    note.write("milk\n")
    try await note.wait(for: "the line") { note.text == "milk\n" }
    #expect(note.service.files[draft] == nil)
  }

  @Test func aHalfWrittenFileIsTakenInOnlyWhenItIsComplete() async throws {
    let note = try await WatchedNote(seed: 45)
    let texts = TextsSeen(of: note)
    note.write(inParts: ["t", "te", "tea\nmi", "tea\nmilk\n"])
    try await note.waitForParts { note.text == "tea\nmilk\n" }
    #expect(texts.all == ["tea\nmilk\n"])
  }

  @Test func aFileThatIsEmptiedBeforeItIsWrittenDoesNotEmptyTheNote() async throws {
    let note = try await WatchedNote(seed: 46)
    let texts = TextsSeen(of: note)
    note.write(inParts: ["", "", "tea\nmilk\n"])
    try await note.waitForParts { note.text == "tea\nmilk\n" }
    #expect(texts.all == ["tea\nmilk\n"])
    #expect(try await note.service.recoveredTexts() == [])
  }

  @Test func theWordsOfAFileThatStaysEmptyAreKept() async throws {
    let note = try await WatchedNote(seed: 47)
    note.write("", isJust: true)
    try await note.wait(for: "the empty note") { note.text == "" }
    try await note.service.pass(.seconds(1))
    #expect(try await note.service.recoveredTexts() == ["tea\n"])
  }

  @Test func aRemovedFileIsWrittenAgainWhenTheNoteChanges() async throws {
    let note = try await WatchedNote(seed: 48)
    note.service.files[note.path] = nil
    note.folders.changed(note.path)
    try await note.service.pass(.seconds(2))
    #expect(note.text == "tea\n")
    #expect(note.file == nil)
    try note.receive("milk")
    try await note.wait(for: "the file") { note.file == "milk\ntea\n" }
  }

  @Test func aFileThatIsNoTextStaysAsItIsAndSoDoesTheNote() async throws {
    let note = try await WatchedNote(seed: 49)
    let bytes: [UInt8] = [0x74, 0x65, 0xE4, 0x0A]
    note.service.files[note.path] = bytes
    note.folders.changed(note.path)
    try note.receive("milk")
    try await note.service.pass(.seconds(7))
    #expect(note.service.files[note.path] == bytes)
    #expect(note.text == "milk\ntea\n")
    note.write("tea\neggs\n")
    try await note.wait(for: "all three") { note.fileLines == ["eggs", "milk", "tea"] }
    #expect(note.text == note.file)
  }

  @Test func whatIsWrittenToTheFileOfAReadOnlyNoteIsKeptAndSaid() async throws {
    let note = try await WatchedNote(seed: 50)
    note.service.sharing.access = .read
    note.write("tea\nmilk\n")
    try await note.wait(for: "the copy") { note.file == "tea\n" }
    #expect(note.text == "tea\n")
    #expect(try await note.service.recoveredTexts() == ["tea\nmilk\n"])
  }

  @Test func aFileThatAnotherProcessHasOpenIsLeftToThatProcess() async throws {
    let note = try await WatchedNote(seed: 51)
    var claim = note.service.files.claim(NoteKey(note.id).lockName, exclusively: false)
    #expect(claim != nil)
    note.write("tea\nmilk\n")
    try await note.service.pass(.seconds(2))
    #expect(note.text == "tea\n")
    claim = nil
    note.folders.changed(note.path)
    try await note.wait(for: "the line") { note.text == "tea\nmilk\n" }
  }

  @Test func onlySoManyFoldersAreWatchedAndThatOfAnOpenNoteAlways() async throws {
    let note = try await WatchedNote(seed: 52)
    let (service, folders) = (note.service.service, MemoryFolders())
    let watcher = FileWatcher(service.environment, service.openFiles, service.documentFiles, service.fileSync, folders)
    for number in 0..<FileWatcher.maximumFolders + 9 { watcher.watch(path: "/notes/\(number)/Plan.md") }
    #expect(folders.watched.count == FileWatcher.maximumFolders)
    watcher.watch(path: "/notes/open/Plan.md", isOpen: true)
    #expect(folders.watched.count == FileWatcher.maximumFolders + 1)
    #expect(folders.watched.contains("/notes/open"))
    watcher.watch(path: "Plan.md")
    #expect(folders.watched.count == FileWatcher.maximumFolders + 1)
  }
}
