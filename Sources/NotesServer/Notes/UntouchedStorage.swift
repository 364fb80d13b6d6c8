import AutomergeRepo
import Foundation
import Synchronization

/// A read-only view of a store: it changes nothing, not even damaged data.
struct UntouchedStorage: StorageProvider {
  let base: any StorageProvider

  func load(_ key: StorageKey) async throws(StorageError) -> Data? { try await base.load(key) }
  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] { try await base.loadRange(prefix) }
  func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await base.children(of: prefix) }
  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { throw .notPermitted }
  func remove(_ key: StorageKey) async throws(StorageError) { throw .notPermitted }
  func removeRange(_ prefix: StorageKey) async throws(StorageError) { throw .notPermitted }
}

/// A store whose changes stay in memory: what recovery would make of it can be read without its being written.
final class OverlayStorage: StorageProvider {
  private let base: any StorageProvider
  private let changed = InMemoryStorage()
  private let removed = Mutex<Set<StorageKey>>([])

  init(base: any StorageProvider) { self.base = base }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    if let data = try await changed.load(key) { return data }
    return removed.withLock { $0.contains(key) } ? nil : try await base.load(key)
  }

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    let new = try await changed.loadRange(prefix)
    let hidden = removed.withLock { $0 }.union(new.map(\.key))
    return try await base.loadRange(prefix).filter { !hidden.contains($0.key) } + new
  }

  func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    Array(Set(try await base.children(of: prefix)).union(try await changed.children(of: prefix)))
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) { try await changed.save(key, data) }

  func remove(_ key: StorageKey) async throws(StorageError) {
    removed.withLock { _ = $0.insert(key) }
    try await changed.remove(key)
  }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    for item in try await loadRange(prefix) { try await remove(item.key) }
  }
}
