import Foundation

/// The key of a chunk or record: components from the general to the particular, such as `[documentId, "snapshot",
/// hash]`.
public typealias StorageKey = [String]

/// Stores bytes under keys. Several processes may use one store at a time.
///
/// Operations on one key that are awaited one after the other take effect in that order. When `save` has returned, the
/// bytes survive a crash of the process and, where the provider says so, of the machine.
/// Providers.md shows how to write one, and `AutomergeRepoConformance` has the checks that it must pass.
public protocol StorageProvider: Sendable {
  /// Nil if there is no value.
  func load(_ key: StorageKey) async throws(StorageError) -> Data?
  /// Replaces the value, whole or not at all.
  func save(_ key: StorageKey, _ data: Data) async throws(StorageError)
  /// Does nothing if there is no value.
  func remove(_ key: StorageKey) async throws(StorageError)
  /// Everything whose key begins with `prefix`, in no particular order, including the value at `prefix` itself.
  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem]
  func removeRange(_ prefix: StorageKey) async throws(StorageError)
  /// The components that follow `prefix` in some key, each once, without reading values.
  func children(of prefix: StorageKey) async throws(StorageError) -> [String]

  /// Makes the changes in order: all of them or none, where the provider can.
  func commit(_ changes: [StorageChange]) async throws(StorageError)
  /// Moves bytes that do not match their key to a place where no load finds them but a person can. Does nothing if the
  /// key has other bytes by now.
  func setAside(_ item: StoredItem) async throws(StorageError)
  /// How many times stored data may have been lost. After an increase, a process that still has the data in memory
  /// stores it again.
  var lossCount: Int { get }
}

extension StorageProvider {
  public func commit(_ changes: [StorageChange]) async throws(StorageError) {
    for change in changes {
      switch change {
      case .save(let item): try await save(item.key, item.data)
      case .remove(let key): try await remove(key)
      case .removeRange(let prefix): try await removeRange(prefix)
      case .update(let item, let record):
        let stored: Data?
        do {
          stored = try await load(item.key)
        } catch .damaged {
          stored = nil
        }
        try await save(item.key, record.merged(item.data, with: stored))
        record.isStored(item.data)
      }
    }
  }

  /// Leaves the bytes where they are.
  public func setAside(_ item: StoredItem) async throws(StorageError) {}

  public var lossCount: Int { 0 }
}

/// One step of a commit.
public enum StorageChange: Hashable, Sendable {
  case save(StoredItem)
  case remove(StorageKey)
  case removeRange(StorageKey)
  /// Stores a CBOR record in which other processes may have stored other fields meanwhile, which stay.
  case update(StoredItem, of: SharedRecord)
}

/// One key with its bytes.
public struct StoredItem: Hashable, Sendable {
  public var key: StorageKey
  public var data: Data

  public init(key: StorageKey, data: Data) {
    (self.key, self.data) = (key, data)
  }
}

/// Why a storage operation failed.
public enum StorageError: Error, Hashable, Sendable {
  /// The disk, or this user's quota, is full.
  case full
  /// No permission to read or write the store.
  case notPermitted
  /// Others have locked the store for too long, or too much waits for it; a later attempt may succeed.
  case busy
  /// The database has not been reachable for some time, for this reason; a later attempt may succeed.
  case unreachable(String)
  /// A later version of notes-lsp has written the store in a format that this version does not know. Nothing was
  /// changed.
  case newerVersion(found: Int, known: Int)
  /// The file belongs to another program. Nothing was changed.
  case foreign
  /// The key cannot be stored: it has no components, or one that is too long.
  case invalidKey(StorageKey)
  /// The stored bytes are not those that were written.
  case damaged(StorageKey)
  /// The document was deleted here, so nothing more of it is stored.
  case deleted
  /// Any other system error; `code` is its errno.
  case failed(operation: String, code: Int32)
}

extension StorageError: CustomStringConvertible {
  /// Part of a sentence that can be shown to a person.
  public var description: String {
    switch self {
    case .full: "the disk is full"
    case .notPermitted: "no permission to read or write it"
    case .busy: "it has been busy for too long; try again later"
    case .unreachable(let reason): "the database cannot be reached: \(reason)"
    case .newerVersion(let found, let known):
      "it is of version \(found), and this notes-lsp knows version \(known) and older; update notes-lsp"
    case .foreign: "it is not a store of notes-lsp"
    case .invalidKey(let key): "\(key) cannot be a key"
    case .damaged(let key): "the data at \(key.joined(separator: "/")) is damaged"
    case .deleted: "the document was deleted"
    case .failed(let operation, EIO), .failed(let operation, 0): "\(operation) failed"
    case .failed(let operation, let code): "\(operation): \(String(cString: strerror(code)))"
    }
  }
}
