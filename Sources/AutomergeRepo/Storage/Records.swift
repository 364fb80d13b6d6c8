import Foundation

extension Result where Success: Sendable, Failure == StorageError {
  /// The result of reading from the store, for `async let`, which does not preserve the type of an error. Independent
  /// reads run at once, because each one waits for the store's thread.
  public init(reading: @Sendable () async throws(StorageError) -> Success) async {
    do throws(StorageError) { self = .success(try await reading()) } catch { self = .failure(error) }
  }
}

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

  /// All records below `prefix` that can be read.
  public func records(under prefix: StorageKey) async throws(StorageError) -> [(key: StorageKey, record: CBOR)] {
    try await loadRange(prefix).compactMap { item in
      (try? CBOR(item.data, limits: .stored)).map { (item.key, $0) }
    }
  }
}
