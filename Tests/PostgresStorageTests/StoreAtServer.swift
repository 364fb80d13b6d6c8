import AutomergeRepo
import Foundation
import PostgresStorage
import RepoTestSupport
import TestSupport
import UV

/// A database of a test's own, and stores that are open on it.
struct StoreAtServer: @unchecked Sendable {
  // Unchecked: the server runs one program after the other, and does not change otherwise.
  let server: PostgresServer
  let database: String

  private static let lock = NSLock()

  /// On the shared server, unless another is given.
  init(_ server: PostgresServer? = nil, options: String = "") throws {
    self.server = try server ?? PostgresServer.shared.get()
    database = try Self.lock.withLock { [server = self.server] in try server.makeDatabase(options) }
  }

  /// Opens a store as another process does.
  /// - Parameters:
  ///   - folder: of the socket, if it is not the server's own.
  ///   - isPatient: false for a server that is not there: then the wait for it is by the real clock.
  func open(folder: String? = nil, isPatient: Bool = true) async throws -> PostgresStore {
    let url = try server.url(database, folder: folder)
    return try await TestLoop.run { loop in
      try await PostgresStore.open(url, loop: loop, clock: isPatient ? PatientClock() : SystemClock())
    }
  }

  @discardableResult
  func run(_ sql: String) throws -> String { try server.run(sql, in: database) }
}

/// A clock on which seconds take long: on a busy machine many pass in which nothing runs.
private final class PatientClock: RepoClock {
  private static let factor = 20
  private let base = SystemClock()

  nonisolated init() {}

  var now: Duration { base.now / Self.factor }
  var date: Date { base.date }

  func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
    base.schedule(after: delay <= .seconds(1) ? delay : delay * Self.factor, action)
  }
}
