import Foundation

extension StorageProvider {
  /// The CBOR record at `key`; nil if there is none. Throws `damaged` if the bytes are not CBOR.
  public func record(at key: StorageKey) async throws(StorageError) -> CBOR? {
    guard let data = try await load(key) else { return nil }
    guard let value = try? CBOR(data, limits: .stored) else { throw .damaged(key) }
    return value
  }

  public func saveRecord(_ record: CBOR, at key: StorageKey) async throws(StorageError) {
    try await save(key, Data(record.encoded()))
  }

  /// All readable records below `prefix`.
  public func records(under prefix: StorageKey) async throws(StorageError) -> [(key: StorageKey, record: CBOR)] {
    try await loadRange(prefix).compactMap { item in
      (try? CBOR(item.data, limits: .stored)).map { (item.key, $0) }
    }
  }
}
