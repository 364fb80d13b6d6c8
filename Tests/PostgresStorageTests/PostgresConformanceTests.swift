import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import PostgresStorage
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct PostgresConformanceTests {}

extension PostgresConformanceTests {
  @Test func postgresConforms() async throws {
    let places = Places()
    try await StorageConformance(promising: .atomicCommits) { place in try await places.store(at: place).open() }.run()
  }

  /// One database for each place.
  private final class Places: Sendable {
    private let stores = Mutex<[String: StoreAtServer]>([:])

    func store(at place: String) throws -> StoreAtServer {
      try stores.withLock { stores in
        if let store = stores[place] { return store }
        let store = try StoreAtServer()
        stores[place] = store
        return store
      }
    }
  }
}
