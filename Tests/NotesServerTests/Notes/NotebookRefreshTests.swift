import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

@AutomergeRepo struct NotebookRefreshTests {
  @Test func whatThisProcessChangesWhileARecordIsReadAgainStays() async throws {
    let storage = ReadHook()
    var random = RandomSource()
    let id = DocumentId.random(using: &random)
    let notebook = Notebook(storage: storage)
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    notebook.remember(NoteRecord(id: id, item: nil, title: "Old", created: date, modified: date))
    try await notebook.save(id)
    storage.duringRead = { notebook.update(id) { $0.title = "New" } }
    // The second read begins after the change, which is stored by then.
    storage.beforeNextRead = { try? await notebook.save(id) }
    try await notebook.refresh(id)
    #expect(notebook[id]?.title == "New")
  }

  /// After a start no record has been changed yet: the first change may fall into a reading.
  @Test(arguments: [true, false])
  func theFirstChangeOfARecordStaysIfItIsStoredWhileTheRecordIsReadAgain(alone: Bool) async throws {
    let storage = ReadHook()
    var random = RandomSource()
    let (id, new) = (DocumentId.random(using: &random), DocumentId.random(using: &random))
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    let before = Notebook(storage: storage)
    before.remember(
      NoteRecord(id: id, item: nil, title: "Trip", created: date, modified: date, path: "/notes/Trip.md"))
    try await before.save(id)
    let notebook = Notebook(storage: storage)
    try await notebook.load()
    storage.afterNextRead = { try? await notebook.move(id, to: new, undoing: [], at: date) }
    if alone { try await notebook.refresh(NoteKey(id)) } else { try await notebook.refresh(id) }
    #expect(storage.afterNextRead == nil)
    #expect(notebook[id]?.successor == new && notebook[id]?.path == nil)
    #expect(notebook.record(atPath: "/notes/Trip.md")?.id == new)
  }

  @Test func whatAnotherProcessHasStoredOfARecordStaysWhenThisOneStoresItsOwn() async throws {
    let storage = InMemoryStorage()
    var random = RandomSource()
    let (id, new) = (DocumentId.random(using: &random), DocumentId.random(using: &random))
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    let one = Notebook(storage: storage), other = Notebook(storage: storage)
    one.remember(NoteRecord(id: id, item: nil, title: "Trip", created: date, modified: date, path: "/notes/Trip.md"))
    try await one.save(id)
    try await other.load()
    one.update(id) { $0.words = 1 }
    try await one.save(id)
    // One process moves the note; the other counts its words and does not know of the move.
    try await one.move(id, to: new, undoing: [], at: date)
    other.update(id) { $0.words = 7 }
    try await other.save(id)
    let stored = try #require(try await other.stored(NoteKey(id)))
    #expect(stored.successor == new && stored.path == nil && stored.deletedSince == date && stored.words == 7)
    other.update(id) { $0.isUnread = true }
    try await other.refresh(id)
    #expect(other[id]?.successor == new && other[id]?.path == nil && other[id]?.isUnread == true)
    try await other.refresh(new)
    #expect(other.record(atPath: "/notes/Trip.md")?.id == new)
    // A value that was changed there and back is changed here, too.
    other.update(id) { $0.words = 1 }
    try await other.save(id)
    #expect(try await one.stored(NoteKey(id))?.words == 1)
  }
}

/// A store in memory that lets a test change things while it reads.
@AutomergeRepo
private final class ReadHook: StorageProvider {
  private let base = InMemoryStorage()
  var duringRead: (() -> Void)?
  var beforeNextRead: (() async -> Void)?
  /// Called when the bytes have been read, before the reader has them.
  var afterNextRead: (() async -> Void)?

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    let hook = duringRead
    if hook == nil { await beforeNextRead?() }
    let items = try await base.loadRange(prefix)
    duringRead = nil
    hook?()
    await callAfterRead()
    return items
  }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    let data = try await base.load(key)
    await callAfterRead()
    return data
  }

  private func callAfterRead() async {
    let hook = afterNextRead
    afterNextRead = nil
    await hook?()
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { try await base.save(key, data) }
  func remove(_ key: StorageKey) async throws(StorageError) { try await base.remove(key) }
  func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await base.removeRange(prefix) }
  func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await base.children(of: prefix) }
  nonisolated var lossCount: Int { 0 }
}
