import Automerge
import AutomergeRepo
import Foundation
import Synchronization
import Testing

@testable import NotesServer

/// Recovery from the journal of a killed process, whether or not the store has its documents.
@AutomergeRepo struct RunJournalTests {
  private let storage = InMemoryStorage()
  private let files = DeadJournals()
  private let journal: RunJournal
  private let repo: Repo
  private let id: DocumentId

  init() {
    var random = RandomSource()
    id = DocumentId.random(using: &random)
    repo = Repo(peerId: PeerId("ana"), storage: storage)
    journal = RunJournal(files: files, run: "bb")
  }

  /// The changes of a note that was fetched and then typed into: those of the fetched text, and those of the words.
  private func changes() throws -> (fetched: Data, typed: Data) {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "fetched ")
    let fetched = document.save()
    let heads = document.heads()
    try document.spliceText(obj: text, start: 8, delete: 0, value: "typed")
    return (fetched, try document.encodeChangesSince(heads: heads))
  }

  private func leave(_ changes: Data...) {
    files.journals["aa"] = changes.flatMap { JournalFrame(document: id, changes: Array($0)).encoded }
  }

  private func storedText() async throws -> String? {
    let next = Repo(peerId: PeerId("ana"), storage: storage)
    guard case .found(let handle) = await next.find(id), let text = handle.document.textObject else { return nil }
    return try handle.document.text(obj: text)
  }

  @Test func whatAnEditorIsAboutToBeToldIsWrittenTogetherWithTheChangeAndBeforeAnythingLeaves() async throws {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    repo.beforeSending = { journal.write() }
    let handle = try await repo.create(doc: Document(), id: id)
    let text = try handle.change { try $0.putObject(obj: .ROOT, key: "content", ty: .Text) }
    journal.opened(BufferKey(NoteKey(id)), handle) { nil }
    let before = log.writings.count
    let other = handle.document.fork()
    try other.spliceText(obj: text, start: 0, delete: 0, value: "tea")
    let observation = handle.observe { [id] event in
      guard case .textEdits = event else { return }
      #expect(log.writings.count == before, "the change is not reported yet")
      journal.sends(1, of: BufferKey(NoteKey(id)), heads: handle.document.heads())
      #expect(log.writings.count == before + 1, "it is written when this returns")
    }
    try handle.merge(other)
    observation.cancel()
    #expect(log.writings.count == before + 1, "one writing for both")
    let frames = JournalFrame.all(in: log.writings.last ?? [])
    #expect(frames.count == 2 && frames.first?.changes.isEmpty == false)
    // No editor or peer hears of this change: the journal has it all the same once it has been handled.
    try other.spliceText(obj: text, start: 0, delete: 0, value: "more ")
    try handle.merge(other)
    #expect(log.writings.count == before + 2)
  }

  @Test(arguments: [true, false]) func whatAFileContainsIsWrittenTogetherWithTheChangeThatTakesItsWordsIn(
    isOpen: Bool
  ) async throws {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    repo.beforeSending = { journal.write() }
    let handle = try await repo.create(doc: Document(), id: id)
    let text = try handle.change { try $0.putObject(obj: .ROOT, key: "content", ty: .Text) }
    try await handle.flush()
    if isOpen { journal.opened(BufferKey(NoteKey(id)), handle) { nil } }
    let before = log.writings.count
    let lacking = TextDelta(utf8Offset: 0, deleted: [], inserted: Array("mine ".utf8))
    let file = RunJournal.FileText(key: NoteKey(id), lacking: lacking, object: nil, replaced: nil)
    try journal.takingIn(file, handle) {
      try handle.change { try $0.spliceText(obj: text, start: 0, delete: 0, value: "tea") }
    }
    #expect(log.writings.count == before + 1)
    let frame = try #require(JournalFrame.all(in: log.writings.last ?? []).first)
    #expect(!frame.changes.isEmpty)
    let base = TextBase(heads: handle.document.heads(), steps: [lacking], object: nil)
    #expect(frame.files == [FileNews(base, item: nil, replacing: nil)])
    #expect((handle.journal != nil) == isOpen)
  }

  /// The disk was full for a while.
  @Test func aJournalThatCouldNotBeWrittenBeginsAnewWithAllThatTheStoreMayLack() async throws {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    var failureCount = 0
    journal.onFailure = { failureCount += 1 }
    let handle = try await repo.create(doc: Document(), id: id)
    let text = try handle.change { try $0.putObject(obj: .ROOT, key: "content", ty: .Text) }
    try await handle.flush()
    let client = ClientBase(base: TextBase(heads: handle.document.heads(), steps: []), time: Date(milliseconds: 1))
    journal.opened(BufferKey(NoteKey(id)), handle) { client }
    func type(_ word: String) throws {
      try handle.change { try $0.spliceText(obj: text, start: 0, delete: 0, value: word) }
      journal.write()
    }
    log.isFull = true
    try type("tea")
    try type("milk")
    #expect(failureCount == 1 && log.writings.isEmpty)
    journal.resume()
    #expect(failureCount == 2 && log.writings.isEmpty)
    log.isFull = false
    let file = TextBase(heads: handle.document.heads(), steps: [])
    journal.fileHas(file, NoteKey(id), replacing: nil)
    journal.resume()
    try type("eggs")
    let content = JournalContent(JournalFrame.all(in: log.writings.flatMap(\.self)))
    let next = try #require(try await storedDocument())
    _ = try next.applyEncodedChanges(encoded: try #require(content.changes[id]))
    #expect(try next.text(obj: text) == "eggsmilktea")
    #expect(content.clients[BufferKey(NoteKey(id))] == client)
    #expect(content.files[NoteKey(id)]?.base == file)
    journal.end()
    journal.resume()
    #expect(failureCount == 2 && log.writings.count == 2)
  }

  private func storedDocument() async throws -> Document? {
    let next = Repo(peerId: PeerId("ana"), storage: storage)
    guard case .found(let handle) = await next.find(id) else { return nil }
    return handle.document
  }

  /// A process was killed after it had merged another program's words, and before it recorded that.
  @Test(arguments: [true, false]) func whatAFileContainsIsRecordedUnlessSomethingElseHasBeenSince(
    hasBeen: Bool
  ) async throws {
    let handle = try await repo.create(doc: Document(), id: id)
    try handle.change { _ = try $0.putObject(obj: .ROOT, key: "content", ty: .Text) }
    try await handle.flush()
    let (heads, key) = (handle.document.heads(), NoteKey(id))
    func base(_ letter: String) -> TextBase {
      TextBase(heads: heads, steps: [TextDelta(utf8Offset: 0, deleted: [], inserted: Array(letter.utf8))])
    }
    let notebook = Notebook(storage: storage)
    let date = Date(timeIntervalSince1970: 0)
    var record = NoteRecord(id: id, title: "Tea", created: date, modified: date)
    record.fileBase = base("a")
    notebook.remember(record)
    try await notebook.save(key)
    let news = FileNews(base("b"), item: nil, replacing: base("a"))
    files.journals["aa"] = JournalFrame(document: id, files: [news]).encoded
    if hasBeen {
      notebook.update(key) { $0.fileBase = base("c") }
      try await notebook.save(key)
    }
    await journal.killed.recover(repo, storage)
    #expect(files.journals.isEmpty)
    for _ in 0..<2 {
      try await notebook.takeUnrecordedBases(of: key, handle)
      try await notebook.reloadBase(of: key)
      #expect(notebook[key]?.fileBase == base(hasBeen ? "c" : "b"))
    }
    #expect(try await storage.loadRange([FileNews.collection]).isEmpty)
  }

  /// The process was killed before it saw the save in the file, and another program has written to the file since.
  /// A power failure takes the end of a journal, and nothing of the store. With the earlier text, the next process would take what
  /// the editor deleted for another program's deletion, and what it wrote over for deleted words.
  @Test(arguments: [true, false]) func whatAnEditorHadIsTheLaterOfWhatTheStoreAndTheJournalSay(
    isJournalCut: Bool
  ) async throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    func client(typing word: String) throws -> ClientBase {
      try document.spliceText(obj: text, start: 0, delete: 0, value: word)
      return ClientBase(base: TextBase(heads: document.heads(), steps: []), time: Date(milliseconds: 0), opened: 1)
    }
    let (early, late) = (try client(typing: "tea "), try client(typing: "jam "))
    try await repo.create(doc: document, id: id).flush()
    let key = NoteKey(id)
    try await storage.commit([.save((isJournalCut ? late : early).item(key, run: "aa"))])
    files.journals["aa"] =
      JournalFrame(
        document: id, clients: [JournalFrame.Client(BufferKey(key), .has(isJournalCut ? early : late))]
      ).encoded
    await journal.killed.recover(repo, storage)
    #expect(try await storage.load(ClientBase.key(key, run: "aa")).flatMap { ClientBase($0) } == late)
    #expect(files.journals.isEmpty)
  }

  @Test func whatAnEditorSaidThatItWroteIsKnownToTheNextProcess() async throws {
    let log = WrittenJournal()
    let handle = try await repo.create(doc: Document(), id: id)
    try await handle.flush()
    let wrote = ClientBase(base: TextBase(heads: handle.document.heads(), steps: []), time: Date(milliseconds: 5))
    RunJournal(files: log, run: "aa").editorWrote(wrote, NoteKey(id))
    files.journals["aa"] = log.writings.flatMap(\.self)
    await journal.killed.recover(repo, storage)
    #expect(files.journals.isEmpty)
    #expect(try await Notebook(storage: storage).editorTexts(of: NoteKey(id)) == [wrote.base])
  }

  @Test(arguments: [true, false]) func theTextOfABufferThatWasClosedTooEarlyIsKeptUnlessItIsMergedBeforeTheKill(
    isMerged: Bool
  ) async throws {
    let log = WrittenJournal()
    let handle = try await repo.create(doc: Document(), id: id)
    try await handle.flush()
    let killed = RunJournal(files: log, run: "0123456789abcdef0123456789abcdef")
    killed.left(Array("mine\n".utf8), BufferKey(NoteKey(id), uri: "file:///a"), on: Date(milliseconds: 5))
    if isMerged { killed.keptLeft(BufferKey(NoteKey(id), uri: "file:///a")) }
    files.journals["0123456789abcdef0123456789abcdef"] = log.writings.flatMap(\.self)
    let earlier = files.journals
    var tellings = 0
    journal.killed.onKept = { tellings += 1 }
    for _ in 0..<2 {
      // While a document is missing, the journal stays, so it may be read again.
      files.journals = earlier
      await journal.killed.recover(repo, storage)
    }
    let kept = try await storage.loadRange([RecoveredText.collection]).compactMap { RecoveredText($0) }
    #expect(kept.map(\.text) == (isMerged ? [] : [Array("mine\n".utf8)]))
    #expect(kept.allSatisfy { $0.id == id && $0.stamp == RecoveredText.Stamp(time: 5, run: "0123456789abcdef") })
    #expect(try await storage.loadRange([RecoveredText.untold]).count == kept.count)
    #expect(tellings == kept.count)
  }

  @Test func theTextOfABufferThatWasClosedTooEarlyIsInAJournalThatBeginsAnew() async throws {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    journal.left(Array("mine\n".utf8), BufferKey(NoteKey(id)), on: Date(milliseconds: 5))
    log.isFull = true
    journal.left(Array("more\n".utf8), BufferKey(NoteKey(id, item: "tea")), on: Date(milliseconds: 6))
    log.isFull = false
    journal.resume()
    let left = JournalContent(JournalFrame.all(in: log.writings.last ?? [])).left
    #expect(left[BufferKey(NoteKey(id))]?.text == Array("mine\n".utf8))
    #expect(left[BufferKey(NoteKey(id, item: "tea"))]?.text == Array("more\n".utf8))
  }

  @Test(arguments: [true, false]) func theTextOfAnotherProgramThatWasWrittenOverIsKeptUnlessItIsMergedBeforeTheKill(
    isMerged: Bool
  ) async throws {
    let log = WrittenJournal()
    let handle = try await repo.create(doc: Document(), id: id)
    try await handle.flush()
    let killed = RunJournal(files: log, run: "0123456789abcdef0123456789abcdef")
    let theirs = overwritten("theirs\n", 5), more = overwritten("more\n", 6)
    killed.overwrote(theirs)
    killed.overwrote(more)
    // An editor opens and closes the note meanwhile.
    killed.closed(BufferKey(NoteKey(id)), handle)
    if isMerged { killed.merged(more) }
    // What is merged may not be stored yet.
    #expect(log.content.overwritten[NoteKey(id)]?.count == 2)
    killed.fileIsStored(NoteKey(id))
    files.journals["0123456789abcdef0123456789abcdef"] = log.writings.flatMap(\.self)
    await journal.killed.recover(repo, storage)
    let kept = try await storage.loadRange([RecoveredText.collection]).compactMap { RecoveredText($0) }
    let texts = Set(kept.map { String(decoding: $0.text, as: UTF8.self) })
    #expect(texts == (isMerged ? ["theirs\n"] : ["theirs\n", "more\n"]))
    #expect(kept.allSatisfy { $0.reason == "another program wrote it to the file" })
  }

  @Test func theTextOfAnotherProgramThatWasWrittenOverIsInAJournalThatBeginsAnew() async throws {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    journal.overwrote(overwritten("theirs\n", 5))
    log.isFull = true
    journal.overwrote(overwritten("more\n", 6, item: "tea"))
    log.isFull = false
    journal.resume()
    let overwritten = JournalContent(JournalFrame.all(in: log.writings.last ?? [])).overwritten
    #expect(overwritten[NoteKey(id)]?.map(\.text) == [Array("theirs\n".utf8)])
    #expect(overwritten[NoteKey(id, item: "tea")]?.map(\.text) == [Array("more\n".utf8)])
  }

  private func overwritten(_ text: String, _ time: Int, item: String? = nil) -> OverwrittenText {
    OverwrittenText(
      key: NoteKey(id, item: item), bytes: Array(text.utf8), stamp: RecoveredText.Stamp(time: time, run: "cc"))
  }

  /// An earlier version journaled one text of each file.
  @Test func anEntryOfAnEarlierVersionThatATextWasMergedIsUnderstood() {
    let text = JournalFrame.Client.LeftText(text: Array("theirs\n".utf8), time: 5)
    let frames = [JournalFrame.Client.News.left(text), .left(text), .closed].map {
      JournalFrame(document: id, overwritten: [JournalFrame.Client(item: nil, news: $0)])
    }
    #expect(JournalContent(Array(frames[..<2])).overwritten == [NoteKey(id): [text]])
    #expect(JournalContent(frames).overwritten.isEmpty)
  }

  /// The end of the process is not the end of a text that could be neither merged nor kept until then.
  @Test(arguments: [true, false]) func aJournalThatHasATextThatNothingElseHasStaysAtTheEnd(isClosedBuffers: Bool) {
    let log = WrittenJournal()
    let journal = RunJournal(files: log, run: "cc")
    let text = overwritten("theirs\n", 5)
    if isClosedBuffers {
      journal.left(text.bytes, BufferKey(text.key), on: Date(milliseconds: 5))
    } else {
      journal.overwrote(text)
    }
    journal.end()
    #expect(!log.hasEnded)
    if isClosedBuffers { journal.keptLeft(BufferKey(text.key)) } else { journal.merged(text) }
    journal.end()
    #expect(log.hasEnded)
  }

  /// A peer may have it, and then brings it.
  @Test func whatAFileContainsWaitsForTheChangesThatItIsBasedOn() async throws {
    let handle = try await repo.create(doc: Document(), id: id)
    let text = try handle.change { try $0.putObject(obj: .ROOT, key: "content", ty: .Text) }
    try await handle.flush()
    let other = handle.document.fork()
    try other.spliceText(obj: text, start: 0, delete: 0, value: "tea")
    let base = TextBase(heads: other.heads(), steps: [])
    let (notebook, key, date) = (Notebook(storage: storage), NoteKey(id), Date(timeIntervalSince1970: 0))
    notebook.remember(NoteRecord(id: id, title: "Tea", created: date, modified: date))
    try await notebook.save(key)
    let news = FileNews(base, item: nil, replacing: nil)
    files.journals["aa"] = JournalFrame(document: id, files: [news]).encoded
    await journal.killed.recover(repo, storage)
    try await notebook.takeUnrecordedBases(of: key, handle)
    try await notebook.loadBase(of: key)
    #expect(notebook[key]?.fileBase == nil)
    try handle.merge(other)
    try await notebook.takeUnrecordedBases(of: key, handle)
    try await notebook.reloadBase(of: key)
    #expect(notebook[key]?.fileBase == base)
  }

  @Test func aNoteThatIsInTheJournalAndNotInTheStoreIsMadeOfIt() async throws {
    let (fetched, typed) = try changes()
    leave(fetched, typed)
    await journal.killed.recover(repo, storage)
    #expect(try await storedText() == "fetched typed")
    #expect(files.journals.isEmpty)
  }

  @Test func aJournalWhoseNoteIsNotHereWaitsForIt() async throws {
    let (fetched, typed) = try changes()
    leave(typed)
    await journal.killed.recover(repo, storage)
    #expect(!files.journals.isEmpty)
    #expect(try await storedText() == nil)
    // A peer brings the note.
    _ = try #require(try repo.make(id, of: fetched))
    #expect(journal.killed.waits(for: id))
    await journal.killed.recover(repo, storage)
    #expect(try await storedText() == "fetched typed")
    #expect(files.journals.isEmpty)
  }

  @Test func aJournalThatCannotBeReadIsKept() async throws {
    let (fetched, typed) = try changes()
    leave(fetched, typed)
    files.isUnreadable = true
    await journal.killed.recover(repo, storage)
    #expect(!files.journals.isEmpty)
    #expect(await journal.killed.hasNew)
    files.isUnreadable = false
    await journal.killed.recover(repo, storage)
    #expect(try await storedText() == "fetched typed")
    #expect(files.journals.isEmpty)
  }

  /// Each look at a file asks for what killed processes left.
  @Test func aJournalThatWaitsForANoteIsReadOnce() async throws {
    let (_, typed) = try changes()
    leave(typed)
    for _ in 0..<3 { await journal.killed.recover(repo, storage) }
    #expect(files.readCount == 1)
    #expect(await !journal.killed.hasNew)
  }

  @Test func theJournalOfANoteThatWasRemovedForGoodGoes() async throws {
    let (fetched, typed) = try changes()
    leave(fetched, typed)
    try await repo.delete(id: id)
    await journal.killed.recover(repo, storage)
    #expect(try await storedText() == nil)
    #expect(files.journals.isEmpty)
  }
}

extension RunJournalTests {
  /// Otherwise a comparison of a working file would wait for it again and again.
  @Test func aJournalThatHasNothingIsNoNews() async throws {
    files.hasNoSegments = true
    files.journals["aa"] = []
    #expect(await journal.killed.hasNew)
    await journal.killed.recover(repo, storage)
    #expect(await !journal.killed.hasNew)
    #expect(files.journals.isEmpty)
  }

  /// It cannot be removed.
  @Test func norIsOneThatStays() async throws {
    leave(try changes().typed)
    await journal.killed.recover(repo, storage)
    #expect(files.journals.keys.sorted() == ["aa"])
    #expect(await !journal.killed.hasNew)
  }

  /// The store has lost what the killed process's last words depend on; a peer may still have it.
  @Test func theJournalStaysWhoseWordsWaitForALostChange() async throws {
    let (fetched, typed) = try changes()
    let repo = Repo(peerId: PeerId("ana"), storage: storage)
    _ = try await repo.create(doc: Document(), id: id)
    try await repo.flush()
    leave(typed)
    await journal.killed.recover(repo, storage)
    #expect(files.journals.keys.sorted() == ["aa"])
    guard case .found(let handle) = await repo.find(id) else {
      Issue.record("not found")
      return
    }
    try handle.take(fetched)
    await journal.killed.recover(repo, storage)
    #expect(files.journals.isEmpty)
    #expect(try await storedText() == "fetched typed")
  }
}

extension Document {
  fileprivate var textObject: ObjId? {
    guard case .Object(let object, .Text)? = try? get(obj: .ROOT, key: "content") else { return nil }
    return object
  }
}

/// The journals of dead processes.
private final class DeadJournals: JournalAccess {
  private let content = Mutex<[String: [UInt8]]>([:])
  private let unreadable = Mutex(false)
  private let failing = Mutex(false)
  private let reads = Mutex(0)

  /// How often a journal was read.
  var readCount: Int { reads.withLock(\.self) }

  /// Whether the journals cannot be read.
  var isUnreadable: Bool {
    get { failing.withLock(\.self) }
    set { failing.withLock { $0 = newValue } }
  }

  /// Whether the journals have no segment.
  var hasNoSegments: Bool {
    get { unreadable.withLock(\.self) }
    set { unreadable.withLock { $0 = newValue } }
  }

  var journals: [String: [UInt8]] {
    get { content.withLock(\.self) }
    set { content.withLock { $0 = newValue } }
  }

  func append(_ bytes: [UInt8]) -> Int? { nil }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async throws -> [UInt8]? {
    reads.withLock { $0 += 1 }
    if isUnreadable { throw CocoaError(.fileReadUnknown) }
    return hasNoSegments ? nil : journals[run]
  }
  func deadRuns() async -> [String] { journals.keys.sorted() }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async { journals[run] = nil }
}
