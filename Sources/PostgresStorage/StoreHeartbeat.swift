import AutomergeRepo
import Logging

/// Another process that is running on the same database.
public struct StoreProcess: Hashable, Sendable {
  /// A UUID, new for each start.
  public var id: String
  /// The addresses where it listens for its siblings, as `host:port`, likeliest first.
  public var addresses: [String]
  /// The peer id of the key that it proves to them.
  public var key: String

  public init(id: String, addresses: [String], key: String) {
    (self.id, self.addresses, self.key) = (id, addresses, key)
  }
}

/// Tells the other processes on a database this one's addresses and key, by a row that is renewed, and reads theirs.
///
/// A process that may write to the table can read every document anyway, so a row in it is proof enough. A row expires
/// by the database's clock. While the database is unreachable, the processes that were found last stay valid.
@AutomergeRepo
public final class StoreHeartbeat {
  /// The interval of the beats, and how long a process counts as running after its last one. Source: Storage.md,
  /// "PostgreSQL".
  public static let interval: Duration = .seconds(2)
  public static let expiry: Duration = .seconds(10)
  /// A caller at our port may cause a read, but not more often than this.
  static let minimumInterval: Duration = .milliseconds(100)

  /// Larger than the number of processes on any database; further rows are not read.
  private static let maximumProcesses: Int64 = 256
  private static let maximumAddresses = 16

  /// Called with all other processes when they are first read, and when one starts, ends or changes its addresses.
  public var onProcesses: (@AutomergeRepo ([StoreProcess]) -> Void)?
  public private(set) var processes: [StoreProcess] = []

  private let store: PostgresStore
  private let own: StoreProcess
  private let clock: any RepoClock
  private let log: Logger
  private var timer: (any ScheduledAction)?
  private var isBeating = false
  private var hasRead = false
  private var lastBeat: Duration?
  private var isStopped = false

  /// - Parameters:
  ///   - addresses: where this process listens for its siblings.
  ///   - key: the peer id of the key that it proves to them.
  public init(
    of store: PostgresStore, addresses: [String], key: String, clock: any RepoClock,
    log: Logger = Logger(label: "siblings")
  ) {
    (self.store, self.clock, self.log) = (store, clock, log)
    own = StoreProcess(id: store.processId, addresses: addresses, key: key)
  }

  public func start() { beat() }

  /// Removes the row, so that the others need not wait until it expires.
  public func stop() async {
    isStopped = true
    timer?.cancel()
    _ = try? await store.client.read(
      SQLStatement("DELETE FROM notes_lsp.process WHERE id = $1", [.text(own.id)]))
  }

  /// Beats and reads now instead of at the end of the interval, for example when an unknown process has connected.
  public func beat() {
    let now = clock.now
    guard !isBeating, !isStopped, lastBeat.map({ now - $0 >= Self.minimumInterval }) ?? true else { return }
    (isBeating, lastBeat) = (true, now)
    timer?.cancel()
    Task {
      await self.exchange()
      self.isBeating = false
      guard !self.isStopped else { return }
      self.timer = self.clock.schedule(after: Self.interval) { [weak self] in self?.beat() }
    }
  }

  private func exchange() async {
    do throws(StorageError) {
      let rows = try await store.client.read(
        SQLStatement(
          """
          WITH beat AS (
            INSERT INTO notes_lsp.process (id, addresses, key) VALUES ($1, $2, $3)
            ON CONFLICT (id) DO UPDATE SET addresses = excluded.addresses, key = excluded.key, beat = now()
          ), gone AS (
            DELETE FROM notes_lsp.process WHERE id <> $1 AND beat < now() - interval '1 minute'
          )
          SELECT id::text, addresses, key FROM notes_lsp.process
          WHERE id <> $1 AND beat > now() - $4::integer * interval '1 second' ORDER BY id LIMIT $5
          """,
          [
            .text(own.id), .text(own.addresses.joined(separator: " ")), .text(own.key),
            .integer(Self.expiry.components.seconds), .integer(Self.maximumProcesses),
          ]))
      let found = (0..<rows.rowCount).compactMap { row in
        Self.process(rows.text(row, 0), rows.text(row, 1), rows.text(row, 2))
      }
      guard found != processes || !hasRead, !isStopped else { return }
      (processes, hasRead) = (found, true)
      onProcesses?(found)
    } catch {
      log.debug("The table of processes: \(error)")
    }
  }

  /// A row may contain anything.
  private static func process(_ id: String?, _ addresses: String?, _ key: String?) -> StoreProcess? {
    guard let id, let addresses, let key, key.utf8.count <= 256, addresses.utf8.count <= 4096 else { return nil }
    let list = addresses.split(separator: " ").prefix(maximumAddresses).map { String($0) }
    return StoreProcess(id: id, addresses: list, key: key)
  }
}
