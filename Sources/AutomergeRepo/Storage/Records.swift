import Foundation

extension Result where Success: Sendable, Failure == StorageError {
  /// What a reading of the store gives. For `async let`, which keeps no type of error: what does not depend on each other is
  /// read at once, for each wait costs a way to the store's thread and back.
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

  /// All readable records below `prefix`.
  public func records(under prefix: StorageKey) async throws(StorageError) -> [(key: StorageKey, record: CBOR)] {
    try await loadRange(prefix).compactMap { item in
      (try? CBOR(item.data, limits: .stored)).map { (item.key, $0) }
    }
  }
}
