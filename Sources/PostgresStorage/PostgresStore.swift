import AutomergeRepo
import Foundation
import Logging
import UV

/// A store in a PostgreSQL database, which any number of processes on any number of machines may use at a time.
///
/// When `save` or `commit` has returned, its data is in the server's log on disk. Two connections serve all documents,
/// one that reads and one that writes; commits that wait together become one transaction. While the database is
/// unreachable, operations wait for it, and throw `StorageError.unreachable` after some seconds.
public final class PostgresStore: StorageProvider {
  /// Names this process in the database: a UUID, new each time.
  public let processId: String
  let client: PostgresClient
  private let losses: LossCount
  private let log = Logger(label: "store")

  /// Connects, and makes the schema `notes_lsp` if it is missing.
  ///
  /// - Parameter loop: the loop on which `AutomergeRepo` runs.
  /// - Throws: the error that a later `load` would throw, so that the program learns at once of an unusable store
  @AutomergeRepo
  public static func open(
    _ url: PostgresURL, loop: Loop, clock: any RepoClock, random: RandomSource = RandomSource()
  ) async throws(StorageError) -> PostgresStore {
    let store = PostgresStore(url, loop: loop, clock: clock, random: random)
    do throws(StorageError) {
      _ = try await store.client.read(SQLStatement(PostgresSchema.readVersion))
    } catch {
      await store.close()
      throw error
    }
    return store
  }

  @AutomergeRepo
  private init(_ url: PostgresURL, loop: Loop, clock: any RepoClock, random: RandomSource) {
    var random = random
    processId = UUID.random(using: &random).uuidString.lowercased()
    losses = LossCount()
    client = PostgresClient(url, processId, loop: loop, clock: clock, random: random, losses: losses, log: log)
  }

  deinit {
    Task { @AutomergeRepo [client] in client.stop() }
  }

  /// Ends the connections. Operations that wait, and all later ones, throw.
  public func close() async { await client.stop() }

  public var lossCount: Int { losses.value }

  // MARK: Reading

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    let text = try PostgresSchema.text(of: key)
    if let name = ChunkName(key) {
      let rows = try await client.read(
        SQLStatement(
          "SELECT part, sha256, bytes FROM notes_lsp.chunk WHERE \(ChunkName.condition(from: 1))", name.parameters))
      return try value(of: rows, at: key)
    }
    let rows = try await client.read(
      SQLStatement("SELECT part, sha256, bytes FROM notes_lsp.record WHERE key = $1", [.text(text)]))
    return try value(of: rows, at: key)
  }

  private func value(of rows: SQLResult, at key: StorageKey) throws(StorageError) -> Data? {
    guard rows.rowCount > 0 else { return nil }
    guard let value = RecordRows.value(of: rows) else { throw .damaged(key) }
    return value
  }

  /// Leaves out damaged rows, except those of chunks: their readers verify them, and handle the damage.
  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    let rows = try await client.read(PostgresQueries.range(KeyRange(prefix)))
    var values: [String: RecordRows.Parts] = [:]
    for row in 0..<rows.rowCount {
      guard let key = rows.text(row, 0) else { continue }
      values[key, default: RecordRows.Parts()].add(rows, row, firstColumn: 1)
    }
    return values.compactMap { text, parts in
      guard let key = StorageKeyText.decode(text), key.starts(with: prefix) else {
        log.error("A row below \(prefix) cannot be read.")
        return nil
      }
      if ChunkName(key) != nil { return StoredItem(key: key, data: parts.joined) }
      guard let value = parts.value else {
        log.error("What is stored at \(key) is not what was put there.")
        return nil
      }
      return StoredItem(key: key, data: value)
    }
  }

  /// - Complexity: O(children × log n)
  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    let rows = try await client.read(PostgresQueries.children(KeyRange(prefix)))
    let names = (0..<rows.rowCount).compactMap { row in
      rows.text(row, 0).flatMap { StorageKeyText.unescaped($0.utf8) }
    }
    return Array(Set(names))
  }

  // MARK: Writing

  public func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    try await commit([.save(StoredItem(key: key, data: data))])
  }

  public func remove(_ key: StorageKey) async throws(StorageError) { try await commit([.remove(key)]) }

  public func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    try await commit([.removeRange(prefix)])
  }

  public func setAside(_ item: StoredItem) async throws(StorageError) {
    try await client.commit([WriteStep(settingAside: item)])
  }

  public func commit(_ changes: [StorageChange]) async throws(StorageError) {
    var steps: [WriteStep] = []
    for change in changes { steps.append(try WriteStep(change)) }
    if !steps.isEmpty { try await client.commit(steps) }
  }
}

extension UUID {
  static func random(using random: inout RandomSource) -> UUID {
    let bytes = random.bytes(16)
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6] & 0x0F | 0x40, bytes[7],
        bytes[8] & 0x3F | 0x80, bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
