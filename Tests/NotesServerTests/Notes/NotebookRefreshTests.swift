import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

@AutomergeRepo @Suite struct NotebookRefreshTests {
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

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    let hook = duringRead
    if hook == nil { await beforeNextRead?() }
    let items = try await base.loadRange(prefix)
    duringRead = nil
    hook?()
    return items
  }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? { try await base.load(key) }
  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { try await base.save(key, data) }
  func remove(_ key: StorageKey) async throws(StorageError) { try await base.remove(key) }
  func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await base.removeRange(prefix) }
  func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await base.children(of: prefix) }
  nonisolated var lossCount: Int { 0 }
}
