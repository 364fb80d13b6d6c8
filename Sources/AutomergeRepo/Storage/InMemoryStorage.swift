import Foundation
import Synchronization

/// A store that lives as long as the object; several repos may share it, one after the other or at once.
public final class InMemoryStorage: StorageProvider {
  private let items = Mutex<[StorageKey: Data]>([:])

  public init() {}

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    items.withLock { $0[key] }
  }

  public func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    guard !key.isEmpty else { throw .invalidKey(key) }
    items.withLock { $0[key] = data }
  }

  public func remove(_ key: StorageKey) async throws(StorageError) {
    items.withLock { $0[key] = nil }
  }

  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    items.withLock { items in
      items.filter { $0.key.starts(with: prefix) }.map { StoredItem(key: $0.key, data: $0.value) }
    }
  }

  public func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    items.withLock { items in items = items.filter { !$0.key.starts(with: prefix) } }
  }

  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    items.withLock { items in
      Array(
        Set(
          items.keys.compactMap { key in
            key.count > prefix.count && key.starts(with: prefix) ? key[prefix.count] : nil
          }))
    }
  }
}
