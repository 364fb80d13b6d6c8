import AutomergeRepo
import Logging

/// The store, for what is known of peers.
@AutomergeRepo
struct PeerStore {
  let storage: any StorageProvider
  let logger: Logger

  /// Writes data whose loss is no reason to fail. On an error the data in memory stays valid, and the log reports it.
  func keep(_ write: @Sendable (any StorageProvider) async throws(StorageError) -> Void) async {
    do throws(StorageError) {
      try await write(storage)
    } catch {
      logger.error("the store does not take what is known of peers: \(error)")
    }
  }

  /// The same without waiting for it.
  func keepSoon(_ write: @escaping @Sendable (any StorageProvider) async throws(StorageError) -> Void) {
    Task { await keep(write) }
  }
}
