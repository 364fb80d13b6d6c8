import AutomergeRepo
import Logging

/// The store, for data about peers.
@AutomergeRepo
struct PeerStore {
  let storage: any StorageProvider
  let logger: Logger

  /// Writes data whose loss is no reason to fail. On an error the data in memory stays valid, and the log reports it.
  func keep(_ write: @Sendable (any StorageProvider) async throws(StorageError) -> Void) async {
    do throws(StorageError) {
      try await write(storage)
    } catch {
      logger.error("data about peers could not be stored: \(error)")
    }
  }

  /// The same without waiting for it.
  func keepSoon(_ write: @escaping @Sendable (any StorageProvider) async throws(StorageError) -> Void) {
    Task { await keep(write) }
  }
}
