import AutomergeRepo
import Logging

/// The store, for data about peers.
@AutomergeRepo
struct PeerStore {
  let storage: any StorageProvider
  let logger: Logger

  /// Writes data whose loss is no reason to fail. On an error the data in memory stays valid, and the log reports it.
  ///
  /// - Returns: whether it is stored.
  @discardableResult
  func keep(_ write: @Sendable (any StorageProvider) async throws(StorageError) -> Void) async -> Bool {
    do throws(StorageError) {
      try await write(storage)
      return true
    } catch {
      logger.error("data about peers could not be stored: \(error)")
      return false
    }
  }

  /// The same without waiting for it.
  func keepSoon(_ write: @escaping @Sendable (any StorageProvider) async throws(StorageError) -> Void) {
    Task { await keep(write) }
  }
}
