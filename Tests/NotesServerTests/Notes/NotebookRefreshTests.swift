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
    // The second read begins behind the change, which is stored by then.
    storage.beforeNextRead = { try? await notebook.save(id) }
    try await notebook.refresh(id)
    #expect(notebook[id]?.title == "New")
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
