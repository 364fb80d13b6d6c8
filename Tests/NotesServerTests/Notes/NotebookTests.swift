import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing

@testable import NotesServer

/// The records of all notes, in memory and in a store that outlives the process.
@AutomergeRepo struct NotebookTests {
  private let storage = InMemoryStorage()
  private let start = Date(timeIntervalSince1970: 1_700_000_000)

  private func id(_ number: UInt8) throws -> DocumentId {
    try #require(DocumentId(bytes: [UInt8](repeating: number, count: 16)))
  }

  /// A record whose age in minutes is its number.
  private func record(_ number: UInt8, item: String? = nil, _ title: String, at path: String? = nil) throws
    -> NoteRecord
  {
    let date = start.addingTimeInterval(60 * Double(number))
    return NoteRecord(id: try id(number), item: item, title: title, created: date, modified: date, path: path)
  }

  private func notebook(_ records: [NoteRecord]) async throws -> Notebook {
    let notebook = Notebook(storage: storage)
    for record in records {
      notebook.remember(record)
      try await notebook.save(record.key)
    }
    return notebook
  }

  /// The notebook of the next process.
  private func readAgain() async throws -> Notebook {
    let notebook = Notebook(storage: storage)
    try await notebook.load()
    return notebook
  }

  @Test func aRestartKnowsEveryNoteAndItsFile() async throws {
    _ = try await notebook([try record(1, "Tea", at: "/notes/Tea.md"), try record(2, "Trip", at: "/notes/Trip.md")])
    let later = try await readAgain()
    #expect(later.isLoaded && later.byModification.map(\.title) == ["Trip", "Tea"])
    #expect(later.record(atPath: "/notes/Tea.md")?.id == (try id(1)))
    #expect(later.record(atPath: "/notes/Milk.md") == nil)
  }

  @Test func aRecordThatCannotBeReadHidesNoOther() async throws {
    _ = try await notebook([try record(1, "Tea")])
    try await storage.save([NoteRecord.collection, try id(2).description], Data("nonsense".utf8))
    try await storage.save([NoteRecord.collection, "no id"], Data())
    // The record of one note under another's key.
    try await storage.save([NoteRecord.collection, try id(3).description, "item"], try record(4, "Milk").encoded())
    #expect(try await readAgain().byModification.map(\.title).contains("Tea"))
  }

  @Test func aRenamedFileIsFoundUnderItsNewNameOnly() async throws {
    let notebook = try await notebook([try record(1, "Tea", at: "/notes/Tea.md")])
    notebook.update(try id(1)) { $0.path = "/notes/Green tea.md" }
    #expect(notebook.record(atPath: "/notes/Tea.md") == nil)
    #expect(notebook.record(atPath: "/notes/Green tea.md")?.title == "Tea")
    // Another note may have the old name now, whichever record is read last.
    notebook.remember(try record(2, "Tea", at: "/notes/Tea.md"))
    notebook.update(try id(1)) { $0.path = "/notes/Black tea.md" }
    #expect(notebook.record(atPath: "/notes/Tea.md")?.id == (try id(2)))
  }

  @Test func theLatestNoteIsFirstAndADeletedOneIsApart() async throws {
    let notebook = try await notebook([try record(1, "A"), try record(2, "B"), try record(3, "C")])
    notebook.update(try id(1)) { $0.modified = start.addingTimeInterval(1000) }
    #expect(notebook.byModification.map(\.title) == ["A", "C", "B"])
    notebook.update(try id(3)) { $0.deletedSince = start.addingTimeInterval(1) }
    notebook.update(try id(2)) { $0.deletedSince = start.addingTimeInterval(2) }
    #expect(notebook.byModification.map(\.title) == ["A"])
    #expect(notebook.keysOfDeleted.map(\.document) == [try id(2), try id(3)])
  }

  @Test func itemsComeInTheOrderOfTheAgenda() async throws {
    let notebook = try await notebook([
      try record(1, "Weekly"), try record(1, item: "a", "Money"), try record(1, item: "b", "Hello"),
      try record(1, item: "c", "Any other business"), try record(2, item: "d", "Of another meeting"),
    ])
    notebook.update(try id(1)) {
      $0.agenda = [AgendaEntry(id: "b", title: "Hello"), AgendaEntry(id: "a", title: "Money")]
    }
    #expect(notebook.items(of: try id(1)).map(\.title) == ["Hello", "Money", "Any other business"])
    #expect(notebook.byModification.map(\.title) == ["Weekly"], "an item is no note of its own")
    try await notebook.remove(NoteKey(try id(1), item: "a"))
    #expect(notebook.items(of: try id(1)).map(\.item) == ["b", "c"])
    #expect(try await Set(readAgain().items(of: id(1)).map(\.item)) == ["b", "c"])
  }

  /// A list is drawn again only if something that it shows has changed.
  @Test func onlyWhatAListShowsIsToldAsAChange() async throws {
    let notebook = Notebook(storage: storage)
    var told: [Notebook.Change.Kind] = []
    var stored = 0
    notebook.onEvent = { event in
      switch event {
      case .changed(let change): told.append(change.kind)
      case .stored: stored += 1
      case .placed: break
      }
    }
    let id = try id(1)
    notebook.remember(try record(1, "Tea"))
    notebook.update(id) { ($0.words, $0.isUnread, $0.modified) = (7, true, start.addingTimeInterval(500)) }
    notebook.update(id) { $0.title = "Green tea" }
    notebook.update(id) { $0.deletedSince = start }
    notebook.update(id) { $0.deletedSince = nil }
    #expect(told == [.created, .renamed, .deleted, .restored] && stored == 0)
    for _ in 0..<2 { try await notebook.save(id) }
    #expect(stored == 1, "other processes are told once, when they can read it")
  }

  @Test func whatTheFileHeldIsReadWhenItIsNeededAndAgainWhenAnotherProcessMayHaveWritten() async throws {
    let (one, id) = (try await notebook([try record(1, "Tea")]), try id(1))
    let bases = (1...3).map { number in
      TextBase(
        heads: [], steps: [TextDelta(utf8Offset: 0, deleted: [], inserted: [UInt8](repeating: 0x61, count: number))])
    }
    one.update(id) { $0.fileBase = bases[0] }
    try await one.save(id)
    let other = try await readAgain()
    #expect(!other.knowsBase(of: NoteKey(id)), "most notes are never opened")
    try await other.loadBase(of: NoteKey(id))
    #expect(other[id]?.fileBase == bases[0])
    for base in bases.dropFirst() {
      one.update(id) { $0.fileBase = base }
      try await one.save(id)
    }
    // Storing a list or a title meanwhile leaves the file's base alone.
    other.update(id) { $0.title = "Green tea" }
    try await other.save(id, withBase: false)
    try await other.loadBase(of: NoteKey(id))
    #expect(other[id]?.fileBase == bases[0])
    try await other.reloadBase(of: NoteKey(id))
    #expect(other[id]?.fileBases == [bases[2], bases[1], bases[0]])
  }

  @Test func aNoteThatMovesTakesItsPlaceItsFileAndItsUndoHistoryWithIt() async throws {
    let (old, new) = (try id(1), try id(9))
    let notebook = try await notebook([
      try record(1, "Plans", at: "/notes/Plans.md"), try record(1, item: "a", "Money", at: "/notes/Plans/Money.md"),
    ])
    let undo: StorageKey = [UndoRecord.collection, old.description, "run"]
    try await storage.save(undo, Data("older".utf8))
    let open = StoredItem(key: undo, data: Data("latest".utf8))
    try await notebook.move(old, to: new, undoing: [open], at: start)
    // A second move changes nothing.
    try await notebook.move(old, to: try id(8), undoing: [], at: start)
    for notebook in [notebook, try await readAgain()] {
      #expect(notebook.latest(old) == new && notebook[old]?.deletedSince == start && notebook[old]?.path == nil)
      #expect(notebook.record(atPath: "/notes/Plans.md")?.id == new && notebook[new]?.title == "Plans")
      #expect(notebook.items(of: new).map(\.path) == ["/notes/Plans/Money.md"])
      #expect(notebook.byModification.map(\.id) == [new])
      #expect(notebook.keysOfDeleted.isEmpty, "it continues, so there is nothing to restore")
    }
    let moved = try await storage.load([UndoRecord.collection, new.description, "run"])
    #expect(moved == open.data, "an open buffer's history is newer than the store's")
  }

  /// The record is being stored when this process, or another one, moves the note.
  @Test(arguments: [true, false])
  func aNoteThatIsMovedStaysMovedWhateverIsStoredLate(byAnother: Bool) async throws {
    let (old, new) = (try id(1), try id(9))
    let mover = try await notebook([try record(1, "Plans", at: "/notes/Plans.md")])
    let notebook = byAnother ? try await readAgain() : mover
    notebook.update(old) { $0.words = 7 }
    let late = notebook.storing(try #require(notebook[old]))
    try await mover.move(old, to: new, undoing: [], at: start)
    for id in byAnother ? [old, new] : [] { try await notebook.refresh(id) }
    try await storage.commit([late])
    for notebook in [notebook, try await readAgain()] {
      #expect(notebook[old]?.successor == new && notebook[old]?.path == nil)
      #expect(notebook.record(atPath: "/notes/Plans.md")?.id == new)
    }
    #expect(try await readAgain()[old]?.words == 7, "what was stored late counts, too")
  }

  /// A store that reads at once and returns late.
  @AutomergeRepo
  private final class SlowReads: StorageProvider {
    let base: InMemoryStorage
    /// The changes that are stored meanwhile.
    var late: [StorageChange] = []
    /// Called before a read returns.
    var onRead: () -> Void = {}

    init(_ base: InMemoryStorage) { self.base = base }

    private func pause() async throws(StorageError) {
      onRead()
      let now = late
      late = []
      try await base.commit(now)
    }

    func load(_ key: StorageKey) async throws(StorageError) -> Data? {
      let found = try await base.load(key)
      try await pause()
      return found
    }

    func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
      let found = try await base.loadRange(prefix)
      try await pause()
      return found
    }

    func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { try await base.save(key, data) }
    func remove(_ key: StorageKey) async throws(StorageError) { try await base.remove(key) }
    func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await base.removeRange(prefix) }
    func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await base.children(of: prefix) }
  }

  @Test(arguments: [true, false]) func whatIsStoredDuringAReadIsNewerThanWhatIsRead(ofAll: Bool) async throws {
    let id = try id(1)
    _ = try await notebook([try record(1, "Plans")])
    let slow = SlowReads(storage)
    let notebook = Notebook(storage: slow)
    try await notebook.load()
    notebook.update(id) { $0.words = 7 }
    slow.late = [notebook.storing(try #require(notebook[id]))]
    if ofAll { try await notebook.refresh(id) } else { try await notebook.refresh(NoteKey(id)) }
    #expect(slow.late.isEmpty && notebook[id]?.words == 7)
  }

  /// Each time that the record is read, the person has typed another word.
  @Test func aPersonWhoTypesHearsOfWhatAnotherProcessHasStored() async throws {
    let id = try id(1)
    let other = try await notebook([try record(1, "Plans")])
    let slow = SlowReads(storage)
    let notebook = Notebook(storage: slow)
    try await notebook.load()
    other.update(id) { $0.title = "Trip" }
    try await other.save(id)
    slow.onRead = { notebook.update(id) { $0.words += 1 } }
    try await notebook.refresh(id)
    #expect(notebook[id]?.title == "Trip" && notebook[id]?.words ?? 0 > 0)
  }

  @Test func movesInACircleEnd() async throws {
    let notebook = try await notebook([try record(1, "A"), try record(2, "B")])
    notebook.update(try id(1)) { $0.successor = try? id(2) }
    notebook.update(try id(2)) { $0.successor = try? id(1) }
    #expect([try id(1), try id(2)].contains(notebook.latest(try id(1))))
  }

  @Test func aNoteThatIsRemovedLeavesNothingInTheStore() async throws {
    let (gone, kept) = (try id(1), try id(2))
    let notebook = try await notebook([try record(1, "Gone", at: "/notes/Gone.md"), try record(2, "Kept")])
    notebook.update(gone) { $0.fileBase = TextBase(heads: [], steps: []) }
    try await notebook.save(gone)
    for collection in [
      ClientBase.collection, ClientBase.leftCollection, UndoRecord.collection, RecoveredText.collection,
    ] {
      for id in [gone, kept] { try await storage.save([collection, id.description, "x"], Data([1])) }
    }
    try await notebook.remove(gone)
    #expect(notebook[gone] == nil && notebook.record(atPath: "/notes/Gone.md") == nil)
    let left = try await storage.loadRange([])
    #expect(!left.contains { $0.key.contains(gone.description) })
    #expect(left.count { $0.key.contains(kept.description) } == 5)
  }

  @Test func whatClientsHadIsKnownLatestFirstAndForgottenWhenItIsOld() async throws {
    let (notebook, id) = (try await notebook([try record(1, "Tea")]), try id(1))
    let key = NoteKey(id)
    func base(_ run: String, minutes: Double, _ inserted: String) -> ClientBase {
      let step = TextDelta(utf8Offset: 0, deleted: [], inserted: Array(inserted.utf8))
      return ClientBase(base: TextBase(heads: [], steps: [step]), time: start.addingTimeInterval(60 * minutes))
    }
    for (run, minutes) in [("one", 1.0), ("two", 3), ("three", 2)] {
      try await storage.commit([.save(base(run, minutes: minutes, run).item(key, run: run))])
    }
    try await storage.commit([.save(base("left", minutes: 0, "left").leftItem(key, run: "left"))])
    func texts(_ bases: [TextBase]) -> [String] {
      bases.map { base in String(decoding: base.steps.reduce(into: []) { $0 += $1.applied(to: []) }, as: UTF8.self) }
    }
    #expect(try await texts(notebook.clientBases(of: key, run: nil)) == ["two", "three", "one"])
    #expect(try await texts(notebook.clientBases(of: key, run: "three")) == ["three"])
    #expect(try await notebook.clientBases(of: key, run: "four").isEmpty)
    #expect(try await texts(notebook.leftBases(of: key)) == ["left"])
    // An old base that is among the last of its note stays: the calendar may have jumped.
    try await notebook.forgetClientBases(before: start.addingTimeInterval(90))
    #expect(try await notebook.leftBases(of: key).isEmpty)
    #expect(try await texts(notebook.clientBases(of: key, run: nil)) == ["two", "three", "one"])
    let later = (1..<Notebook.keptClientBases).map { ("later \($0)", Double(3 + $0)) }
    for (run, minutes) in later {
      try await storage.commit([.save(base(run, minutes: minutes, run).item(key, run: run))])
    }
    try await notebook.forgetClientBases(before: start.addingTimeInterval(150))
    let kept = later.map(\.0).reversed() + ["two"]
    #expect(try await texts(notebook.clientBases(of: key, run: nil)) == Array(kept))
    for (run, _) in later { try await notebook.forgetClientBase(of: key, run: run) }
    try await storage.commit([.save(base("three", minutes: 2, "three").item(key, run: "three"))])
    try await notebook.forgetClientBase(of: key, run: "two")
    #expect(try await texts(notebook.clientBases(of: key, run: nil)) == ["three"])
  }

  /// A few stay, however old: the calendar may have jumped, and the editor of the killed run may still have what it found.
  @Test(arguments: ClientBase.FileText.allCases)
  func whatTheFilesOfKilledRunsHeldLongAgoIsForgotten(text: ClientBase.FileText) async throws {
    let (notebook, id) = (try await notebook([try record(1, "Tea")]), try id(1))
    let key = NoteKey(id)
    func base(minutes: Int) -> ClientBase {
      ClientBase(base: TextBase(heads: [], steps: []), time: start.addingTimeInterval(60 * Double(minutes)))
    }
    for run in 0...Notebook.keptFileTexts {
      let item = base(minutes: run).item(key, run: "run \(run)", text)
      try await storage.commit([.save(base(minutes: 0).item(key, run: "run \(run)")), .save(item)])
    }
    try await notebook.forgetClientBases(before: start.addingTimeInterval(60 * 60))
    let left = try await storage.loadRange([ClientBase.collection]).map(\.key)
    let ofFiles = (1...Notebook.keptFileTexts).map { ClientBase.key(key, run: "run \($0)", text) }
    #expect(Set(left.filter(ClientBase.isOfFile)) == Set(ofFiles))
    #expect(left.count { !ClientBase.isOfFile($0) } == Notebook.keptFileTexts + 1)
  }

  @Test func aRecordThatTheStoreDoesNotTakeIsStoredWithTheNextOne() async throws {
    let faulty = FaultyStorage(storage)
    let (notebook, id) = (Notebook(storage: faulty), try id(1))
    notebook.remember(try record(1, "Tea"))
    faulty.failSaves(1)
    await #expect(throws: StorageError.full) { try await notebook.save(id) }
    #expect(try await readAgain().byModification.isEmpty)
    notebook.update(id) { $0.words = 3 }
    try await notebook.save(id)
    let stored = try await readAgain()[id]
    #expect(stored?.words == 3 && stored?.title == "Tea")
  }
}
