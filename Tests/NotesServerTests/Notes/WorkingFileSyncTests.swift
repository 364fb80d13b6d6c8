import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// Two calls of one process update the same file at the same time.
@AutomergeRepo struct WorkingFileSyncTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))

  private func text(_ files: MemoryFiles, _ path: String) -> String? {
    files[path].map { String(decoding: $0, as: UTF8.self) }
  }

  private func type(_ text: String, into handle: DocHandle, item: String? = nil) throws {
    let note = try #require(NoteDocument(handle.document, item: item))
    try handle.change { try $0.spliceText(obj: note.content, utf8Offset: 0, deleteUTF8: 0, insert: Array(text.utf8)) }
  }

  @Test func whatComesWhileTheFileIsWrittenIsWrittenToo() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ben.handle(of: id)
    let isFirst = Mutex(true)
    ben.files.onReplace.withLock {
      $0 = { [self] _ in
        guard
          isFirst.withLock({ value in
            defer { value = false }; return value
          })
        else { return }
        // By now the first call has read the text and holds the claim.
        await Task { @AutomergeRepo in
          try? self.type("plum ", into: handle)
          ben.service.fileSync.plan(handle)
          world.clock.advance(by: WorkingFileSync.writeDelay)
          for _ in 0..<20 { await Task.yield() }
        }.value
      }
    }
    try type("green ", into: handle)
    try await ben.service.fileSync.synchronize(handle)
    #expect(text(ben.files, "/notes/Shopping.md") == "green tea\n")
    try await ben.wait(for: "the file") { self.text(ben.files, "/notes/Shopping.md") == "plum green tea\n" }
  }

  /// The other process's editor has closed the note, and the file changed just before.
  @Test func whatAnotherProcessIsMergingFromTheFileIsNotMergedHere() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    var turn = ben.files.claim("file-" + NoteKey(id).lockName, exclusively: true)
    #expect(turn != nil)
    ben.files["/notes/Shopping.md"] = Array("tea\nmilk\n".utf8)
    let handle = try await ben.handle(of: id)
    ben.service.fileSync.plan(handle, text: nil)
    try await ben.pass(.seconds(5))
    #expect(ben.text(of: id) == "tea\n")
    // The other process stores it before it gives up its turn.
    let other = Repo(peerId: PeerId("second"), storage: ben.service.notebook.storage)
    guard case .found(let there) = await other.find(id) else { throw CancellationError() }
    let note = try #require(NoteDocument(there.document))
    try there.change {
      try $0.spliceText(obj: note.content, utf8Offset: 4, deleteUTF8: 0, insert: Array("milk\n".utf8))
    }
    try await there.flush()
    withExtendedLifetime(turn) {}
    turn = nil
    try await ben.wait(for: "the line") { ben.text(of: id) != "tea\n" }
    try await ben.pass(.seconds(5))
    #expect(ben.text(of: id) == "tea\nmilk\n")
    #expect(text(ben.files, "/notes/Shopping.md") == "tea\nmilk\n")
  }

  /// What has the claim has found that the file was removed, and does not make it.
  @Test func aMissingFileIsMadeForTheEditorThoughTheNoteIsBeingSynchronized() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    await ben.files.remove("/notes/Shopping.md")
    var claim = ben.files.claim(NoteKey(id).lockName, exclusively: true)
    world.clock.schedule(after: .milliseconds(300)) { claim = nil }
    let opened = try await ben.request("notes/open", ["id": .string(id.description)])
    #expect(claim == nil)
    #expect(opened["path"] == "/notes/Shopping.md")
    #expect(text(ben.files, "/notes/Shopping.md") == "tea\n")
  }

  @Test func whatAnotherProgramWroteJustBeforeTheFileIsInTheJournalUntilItIsMerged() async throws {
    let log = WrittenJournal()
    let ben = ServiceUnderTest(world, journal: log)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    let isFirst = Mutex(true)
    ben.files.onReplace.withLock { [files = ben.files] in
      $0 = { path in
        let isNow = isFirst.withLock { value in
          defer { value = false }
          return value
        }
        if isNow { files.write(path, "tea\neggs\n") }
      }
    }
    try type("green ", into: handle)
    try await ben.service.fileSync.synchronize(handle)
    #expect(ben.text(of: id) == "green tea\neggs\n")
    let entries = JournalFrame.all(in: log.writings.flatMap(\.self))
    let kept = entries.indices.compactMap {
      JournalContent(Array(entries[...$0])).overwritten[NoteKey(id)]?.first?.text
    }
    #expect(kept.contains(Array("tea\neggs\n".utf8)))
    #expect(log.content.overwritten.isEmpty)
  }

  /// The next attempt finds only what the service has written.
  /// The power may fail at any moment: the file that has the words must not be gone before the store has them.
  @Test func whatAServiceWritesOverIsStoredBeforeItsOwnFileIsDurable() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ben.handle(of: id)
    let stored = Mutex<[String?]>([])
    let storage = ben.service.notebook.storage
    ben.files.onReplace.withLock { [files = ben.files] in
      $0 = { path in
        if files[path] == Array("tea\n".utf8) { files[path] = Array("tea\nham\n".utf8) }
      }
    }
    ben.files.onDurable.withLock {
      $0 = { _ in
        let text = try? await Repo(storage: storage).texts.text(of: id, at: "content")
        stored.withLock { $0.append(text) }
      }
    }
    try type("milk\n", into: handle)
    try await ben.service.fileSync.synchronize(handle)
    #expect(stored.withLock { $0 } == ["milk\ntea\nham\n"])
    // What the record says holds for both files.
    let base = try #require(ben.service.notebook[id]?.fileBases)
    let note = try #require(NoteDocument(handle.document))
    let texts = base.flatMap { $0.texts(of: note) }.map { String(decoding: $0, as: UTF8.self) }
    #expect(Set(texts).isSuperset(of: ["tea\nham\n", "milk\ntea\n"]))
  }

  @Test func whatAnotherProgramWroteMeanwhileIsKeptIfItCannotBeMerged() async throws {
    let log = WrittenJournal()
    let ben = ServiceUnderTest(world, journal: log)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    let store = try #require(world.stores["ben"])
    ben.files.onReplaced.withLock { $0 = { _ in store.failLoads(true) } }
    ben.files.onReplace.withLock { [files = ben.files] in $0 = { path in files.write(path, "tea\neggs\n") } }
    try type("green ", into: handle)
    await #expect(throws: (any Error).self) { try await ben.service.fileSync.synchronize(handle) }
    ben.files.onReplace.withLock { $0 = { _ in } }
    ben.files.onReplaced.withLock { $0 = { _ in } }
    store.failLoads(false)
    try await ben.service.fileSync.synchronize(handle)
    #expect(try await ben.recoveredTexts() == ["tea\neggs\n"])
    #expect(log.content.overwritten.isEmpty)
  }

  /// The service had written an older text.
  @Test func whatABufferThatWasOpenedMeanwhileHasSavedStaysWhatTheFileIsKnownToHold() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let uri = try #require(made["uri"]?.stringValue)
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    let saved = Mutex<TextBase?>(nil)
    ben.files.onReplaced.withLock { [files = ben.files] in
      $0 = { path in
        let saving = Task { @AutomergeRepo in
          ben.open(uri, "green tea\n")
          try await ben.wait(for: "the note") { ben.binding(uri) != nil }
          ben.change(uri, "green tea\neggs\n", version: 2)
          files.write(path, "green tea\neggs\n")
          ben.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
          try await ben.wait(for: "the file's content") { !ben.service.openFiles.isBusy(NoteKey(id)) }
          return ben.service.notebook[NoteKey(id)]?.fileBase
        }
        let base = try? await saving.value
        saved.withLock { $0 = base ?? nil }
      }
    }
    try type("green ", into: handle)
    try await ben.service.fileSync.synchronize(handle)
    #expect(saved.withLock(\.self) != nil)
    #expect(ben.service.notebook[NoteKey(id)]?.fileBase == saved.withLock(\.self))
  }

  /// The editor has read the old text, in which the line stands between two that one new line has replaced in the note.
  @Test func aLineThatIsTypedWhileTheFileIsWrittenStaysALine() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\nham\nend\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let uri = try #require(made["uri"]?.stringValue)
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    ben.files.onReplace.withLock {
      $0 = { _ in
        let typing = Task { @AutomergeRepo in
          guard ben.binding(uri) == nil else { return }
          let buffer = ClientBuffer(uri, "tea\nham\nend\n", in: ben)
          try await ben.wait(for: "the note") { ben.binding(uri) != nil }
          buffer.replace(4..<4, "eggs\n")
        }
        try? await typing.value
      }
    }
    let note = try #require(NoteDocument(handle.document))
    try handle.change { _ in try note.make([TextSplice(utf8Offset: 0, deleteUTF8: 8, insert: Array("milk\n".utf8))]) }
    try await ben.service.fileSync.synchronize(handle)
    try await ben.wait(for: "the line") { ben.text(of: id)?.contains("eggs") ?? false }
    #expect(ben.text(of: id) == "eggs\nmilk\nend\n")
  }

  /// A large text is merged off the loop. The editor's buffer is told of everything that happens to the note.
  @Test(arguments: [1, 10_000])
  func whatAnotherProgramWroteMeanwhileIsKeptIfAnEditorOpensTheNoteBeforeItIsMerged(lineCount: Int) async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let text = String(repeating: "tea\n", count: lineCount)
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": .string(text)])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let uri = try #require(made["uri"]?.stringValue)
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    let isFirst = Mutex(true), opened = Mutex<ClientBuffer?>(nil)
    ben.files.onReplace.withLock { [files = ben.files] in
      $0 = { path in
        let isNow = isFirst.withLock { value in
          defer { value = false }
          return value
        }
        guard isNow else { return }
        files.write(path, text + "eggs\n")
        // The buffer does not wait for the end of a merge that takes seconds.
        let opening = Task { @AutomergeRepo in
          let buffer = ClientBuffer(uri, text, in: ben)
          try await ben.wait(for: "the note") { ben.binding(uri) != nil }
          return buffer
        }
        let buffer = try? await opening.value
        opened.withLock { $0 = buffer }
      }
    }
    try type("green ", into: handle)
    try await ben.service.fileSync.synchronize(handle)
    #expect(ben.binding(uri) != nil)
    try await ben.pass(.seconds(5))
    let buffer = try #require(opened.withLock { $0 })
    while buffer.hasMail { buffer.readMessage() }
    #expect(buffer.string == ben.text(of: id))
    let kept = try await ben.recoveredTexts()
    #expect(ben.text(of: id)?.contains("eggs") == true || kept.contains { $0.contains("eggs") })
  }

  @Test func aMeetingsFolderFollowsItsTitleThoughAnItemsFileIsJustBeingWritten() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let added = try await ben.request(
      "notes/addItem", ["id": .string(id.description), "title": "Tea", "text": "green\n"])
    let item = try #require(added["item"]?.stringValue)
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    var claim = ben.service.fileSync.reconciler.claim(NoteKey(id, item: item), handle)
    #expect(claim != nil)
    _ = try await ben.request("notes/rename", ["id": .string(id.description), "title": "Monday"])
    #expect(text(ben.files, "/notes/Weekly/Tea.md") == "green\n")
    claim = nil
    try await ben.wait(for: "the folder") { self.text(ben.files, "/notes/Monday/Tea.md") == "green\n" }
  }

  /// The kernel frees the locks of a killed process one by one.
  @Test func whatAProcessWroteThatIsJustEndingStandsOnceThoughItsFileIsFreeFirst() async throws {
    let journal = EndingJournal()
    let ben = ServiceUnderTest(world, journal: journal)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ben.handle(of: id)
    try await ben.wait(for: "quiet") { !ben.service.fileSync.isPlanned(id) }
    let other = handle.document.fork()
    let note = try #require(NoteDocument(other))
    try other.spliceText(obj: note.content, utf8Offset: 4, deleteUTF8: 0, insert: Array("milk\n".utf8))
    let client = ClientBase(base: TextBase(heads: other.heads(), steps: []), time: ben.world.clock.date)
    let changes = try other.encodeChangesSince(heads: handle.document.heads())
    let frame = JournalFrame(
      document: id, changes: Array(changes), clients: [JournalFrame.Client(item: nil, news: .has(client))])
    ben.files.write("/notes/Shopping.md", "tea\nmilk\n")
    journal.content.withLock { $0 = frame.encoded }
    ben.service.fileSync.plan(handle, text: nil)
    try await ben.wait(for: "the words") { ben.text(of: id)?.contains("milk") == true }
    #expect(journal.isLiving.withLock(\.self) == false)
    await ben.service.journal.killed.recover(ben.service.repo, ben.service.notebook.storage)
    #expect(ben.text(of: id) == "tea\nmilk\n")
    #expect(text(ben.files, "/notes/Shopping.md") == "tea\nmilk\n")
  }
}

/// The journal of a process that has released its files, and releases its own lock once it has been looked for a few times.
private final class EndingJournal: JournalAccess {
  let content = Mutex<[UInt8]>([])
  let isLiving = Mutex(true)
  private let questions = Mutex(0)

  func append(_ bytes: [UInt8]) -> Int? { bytes.count }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { content.withLock { $0.isEmpty ? nil : $0 } }
  func deadRuns() async -> [String] { runs(areLiving: false) }

  func livingRuns() async -> [String] {
    let count = questions.withLock { value in
      if !content.withLock(\.isEmpty) { value += 1 }
      return value
    }
    if count > 3 { isLiving.withLock { $0 = false } }
    return runs(areLiving: true)
  }

  func remove(_ run: String) async { content.withLock { $0 = [] } }

  private func runs(areLiving: Bool) -> [String] {
    content.withLock(\.isEmpty) || isLiving.withLock(\.self) != areLiving ? [] : ["aa"]
  }
}
