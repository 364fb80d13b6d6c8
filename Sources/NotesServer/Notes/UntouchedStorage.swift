import AutomergeRepo
import Foundation

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
