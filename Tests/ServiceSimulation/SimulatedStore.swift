import AutomergeRepo
import Foundation

/// One process's access to the store.
@AutomergeRepo
final class SimulatedStore: StorageProvider {
  private nonisolated let process: SimulatedProcess

  nonisolated init(_ process: SimulatedProcess) { self.process = process }

  func load(_ key: StorageKey) async -> Data? {
    await process.waitForStore()
    return process.disk.items[key]
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    try await commit([.save(StoredItem(key: key, data: data))])
  }

  func remove(_ key: StorageKey) async throws(StorageError) { try await commit([.remove(key)]) }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await commit([.removeRange(prefix)]) }

  func loadRange(_ prefix: StorageKey) async -> [StoredItem] {
    await process.waitForStore()
    return process.disk.items.filter { $0.key.starts(with: prefix) }.map { StoredItem(key: $0.key, data: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  func children(of prefix: StorageKey) async -> [String] {
    await process.waitForStore()
    let keys = process.disk.items.keys.filter { $0.count > prefix.count && $0.starts(with: prefix) }
    return Set(keys.map { $0[prefix.count] }).sorted()
  }

  /// All or nothing, as a transaction is.
  func commit(_ changes: [StorageChange]) async throws(StorageError) {
    await process.waitForStore()
    guard process.isAlive else { return }
    if let failure = process.disk.failure { throw failure }
    for change in changes {
      switch change {
      case .save(let item): process.disk.items[item.key] = item.data
      case .remove(let key): process.disk.items[key] = nil
      case .removeRange(let prefix): process.disk.items = process.disk.items.filter { !$0.key.starts(with: prefix) }
      case .update(let item, let record):
        process.disk.items[item.key] = record.merged(item.data, with: process.disk.items[item.key])
        record.isStored(item.data)
      }
    }
  }
}
