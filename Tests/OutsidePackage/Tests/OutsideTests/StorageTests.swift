import Automerge
import AutomergeRepo
import FileStorage
import Foundation
import SQLiteStorage
import Synchronization
import Testing

/// A store of our own: all that a provider must have.
final class Drawer: StorageProvider {
  private let items = Mutex<[StorageKey: Data]>([:])

  func load(_ key: StorageKey) async throws(StorageError) -> Data? { items.withLock { $0[key] } }
  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { items.withLock { $0[key] = data } }
  func remove(_ key: StorageKey) async throws(StorageError) { items.withLock { $0[key] = nil } }

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    items.withLock { items in
      items.filter { $0.key.starts(with: prefix) }.map { StoredItem(key: $0.key, data: $0.value) }
    }
  }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    items.withLock { items in items = items.filter { !$0.key.starts(with: prefix) } }
  }

  func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    items.withLock { items in
      Array(Set(items.keys.filter { $0.count > prefix.count && $0.starts(with: prefix) }.map { $0[prefix.count] }))
    }
  }
}

struct StorageTests {
  private func folder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("outside-\(UUID().uuidString)")
  }

  @Test func aDocumentSurvivesInEachStore() async throws {
    let (database, files) = (folder(), folder())
    defer { for folder in [database, files] { try? FileManager.default.removeItem(at: folder) } }
    let (drawer, memory) = (Drawer(), InMemoryStorage())
    let openers: [() async throws -> any StorageProvider] = [
      { try await SQLiteStore.open(directory: database) }, { try FileStore(directory: files) }, { drawer }, { memory },
    ]
    for open in openers {
      let repo = Repo(storage: try await open())
      let handle = try await repo.create()
      try await handle.change { try $0.put(obj: .ROOT, key: "tea", value: .Boolean(true)) }
      let empty = try await repo.create()
      try await repo.shutDown()
      let later = Repo(storage: try await open())
      #expect(try await later.documentIds() == [handle.id, empty.id])
      let found = try await later.find(id: handle.id, within: .patient)
      #expect(try found.doc.get(obj: .ROOT, key: "tea") == .Scalar(.Boolean(true)))
      #expect(try await later.find(id: empty.id, within: .patient).doc.keys(obj: .ROOT).isEmpty)
    }
  }

  @Test func anIdIsTakenOnlyOnce() async throws {
    let store = InMemoryStorage()
    let first = Repo(storage: store)
    let id = DocumentId()
    let handle = try await first.create(id: id)
    try await handle.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    try await first.shutDown()
    let second = Repo(storage: store)
    await #expect(throws: RepoError.alreadyExists(id)) { try await second.create(id: id) }
    #expect(try await second.find(id: id).doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))
    try await second.delete(id: id)
    #expect(try await second.documentIds().isEmpty)
    await #expect(throws: RepoError.deleted(id)) { try await second.find(id: id) }
    await #expect(throws: RepoError.deleted(id)) { try await second.create(id: id) }
    try await second.undelete(id)
    #expect(try await second.create(id: id).doc.keys(obj: .ROOT).isEmpty)
  }

  @Test func documentsAreImportedExportedAndCloned() async throws {
    let repo = Repo(storage: InMemoryStorage())
    let original = try await repo.create()
    try await original.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    let old = original.doc.heads()
    let copy = try await repo.clone(id: original.id)
    let imported = try await repo.import(data: try await repo.export(id: original.id))
    #expect(
      copy.id != original.id && imported.id != original.id && copy.doc.heads() == old && imported.doc.heads() == old)
    try await original.change { try $0.put(obj: .ROOT, key: "x", value: .Int(2)) }
    #expect(try original.view(heads: old).get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))
    #expect(try copy.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))
    _ = try await repo.import(doc: original.doc.fork(), id: copy.id)
    #expect(try copy.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(2)))
    await #expect(throws: RepoError.self) { try await repo.import(data: Data("no document".utf8)) }
    let url = AutomergeURL(original.id, heads: old)
    #expect(AutomergeURL(url.description) == url)
    #expect(try await repo.find(url).id == original.id)
  }
}
