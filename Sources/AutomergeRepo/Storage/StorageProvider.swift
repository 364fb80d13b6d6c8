import Foundation

/// Where a chunk or record lies: names from the general to the particular, such as `[documentId, "snapshot", hash]`.
public typealias StorageKey = [String]

/// Keeps bytes under keys. Several processes may use one store at a time.
///
/// Operations on one key that are awaited one after the other take effect in that order. When `save` has returned, the
/// bytes survive a crash of the process and, where the provider says so, of the machine.
/// A new provider passes `StorageSuite` in the tests.
public protocol StorageProvider: Sendable {
  /// Nil if there is nothing.
  func load(_ key: StorageKey) async throws(StorageError) -> Data?
  /// Replaces what was there, whole or not at all.
  func save(_ key: StorageKey, _ data: Data) async throws(StorageError)
  /// Does nothing if there is nothing.
  func remove(_ key: StorageKey) async throws(StorageError)
  /// Everything whose key begins with `prefix`, in no particular order; what lies at `prefix` itself included.
  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem]
  func removeRange(_ prefix: StorageKey) async throws(StorageError)
  /// The names that follow `prefix` in some key, each once, without reading what lies there.
  func children(of prefix: StorageKey) async throws(StorageError) -> [String]
}

/// One key with its bytes.
public struct StoredItem: Hashable, Sendable {
  public var key: StorageKey
  public var data: Data

  public init(key: StorageKey, data: Data) {
    (self.key, self.data) = (key, data)
  }
}

/// Why a store did not do what it was asked.
public enum StorageError: Error, Hashable, Sendable {
  /// No room, or no more of it for this user.
  case full
  /// The store may not be read or written.
  case notPermitted
  /// The key cannot be stored: no components, or one that is too long.
  case invalidKey(StorageKey)
  /// What lies there is not what was put there.
  case damaged(StorageKey)
  /// Anything else that the system says; `code` is its errno.
  case failed(operation: String, code: Int32)
}
