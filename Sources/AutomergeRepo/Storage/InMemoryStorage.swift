import Foundation
import Synchronization

/// A store that lives as long as the object. Several repos may share it, in turn or at once.
public final class InMemoryStorage: StorageProvider {
  /// The items by the first component of their keys, so that work on one document does not look at the others.
  private let groups = Mutex<[String: [StorageKey: Data]]>([:])

  public init() {}

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    guard let first = key.first else { return nil }
    return groups.withLock { $0[first]?[key] }
  }

  public func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    guard let first = key.first else { throw .invalidKey(key) }
    groups.withLock { $0[first, default: [:]][key] = data }
  }

  public func remove(_ key: StorageKey) async throws(StorageError) {
    guard let first = key.first else { return }
    groups.withLock { groups in
      groups[first]?[key] = nil
      if groups[first]?.isEmpty == true { groups[first] = nil }
    }
  }

  /// - Complexity: O(n) in the items with the same first component
  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    groups.withLock { groups in
      let candidates = prefix.first.map { first in groups[first].map { [$0] } ?? [] } ?? Array(groups.values)
      return candidates.flatMap { items in
        items.filter { $0.key.starts(with: prefix) }.map { StoredItem(key: $0.key, data: $0.value) }
      }
    }
  }

  public func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    groups.withLock { groups in
      guard let first = prefix.first else { return groups = [:] }
      let rest = groups[first]?.filter { !$0.key.starts(with: prefix) } ?? [:]
      groups[first] = rest.isEmpty ? nil : rest
    }
  }

  /// - Complexity: O(n) in the items with the same first component
  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    groups.withLock { groups in
      guard let first = prefix.first else { return Array(groups.keys) }
      let keys = groups[first]?.keys.filter { $0.count > prefix.count && $0.starts(with: prefix) } ?? []
      return Array(Set(keys.map { $0[prefix.count] }))
    }
  }
}
