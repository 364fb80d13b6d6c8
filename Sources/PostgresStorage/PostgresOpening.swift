import AutomergeRepo
internal import CPostgres
import Foundation

/// An open connection whose database has our schema, not in use yet.
struct OpenedConnection: @unchecked Sendable {
  // Unchecked: the thread that opened it passes it to the loop once.
  let raw: OpaquePointer
}

/// Opens a connection and makes the schema on first use. Blocks for the host's address, TLS and the password, so call
/// it on a worker thread.
struct PostgresOpening {
  /// The limit for each address of each host. Source: Storage.md, "PostgreSQL".
  static let connectSeconds = 5
  /// The limit for each statement here; a server that hangs must not keep the thread.
  private static let statementSeconds = 10.0

  let url: PostgresURL
  /// Shown to the database's administrator. A process also finds its own earlier connections by it.
  let applicationName: String

  func open() throws(StorageError) -> OpenedConnection {
    let raw = try connect()
    do throws(StorageError) {
      notes_drop_notices(raw)
      guard PQsetnonblocking(raw, 1) == 0 else { throw .unreachable(Self.message(raw)) }
      try prepare(raw)
      guard PQenterPipelineMode(raw) == 1 else { throw .unreachable(Self.message(raw)) }
      return OpenedConnection(raw: raw)
    } catch {
      PQfinish(raw)
      throw error
    }
  }

  /// Connects. The URL overrides these options, except for the last two.
  private func connect() throws(StorageError) -> OpaquePointer {
    let options = [
      ("connect_timeout", "\(Self.connectSeconds)"), ("target_session_attrs", "read-write"),
      // The kernel notices a server that is gone after about 10 s.
      ("keepalives_idle", "4"), ("keepalives_interval", "2"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
      ("dbname", url.text), ("client_encoding", "UTF8"), ("application_name", applicationName),
    ]
    let keywords = CStrings(options.map(\.0)), values = CStrings(options.map(\.1))
    guard let raw = PQconnectdbParams(keywords.pointers, values.pointers, 1) else { throw .full }
    guard PQstatus(raw) == CONNECTION_OK else {
      defer { PQfinish(raw) }
      throw .unreachable(Self.message(raw))
    }
    guard PQserverVersion(raw) >= 130_000 else {
      defer { PQfinish(raw) }
      throw .failed(operation: "PostgreSQL 13 or later is needed; this server's version", code: PQserverVersion(raw))
    }
    return raw
  }

  /// Checks the encoding, checks or creates the schema, and makes sure that commits reach the disk.
  private func prepare(_ raw: OpaquePointer) throws(StorageError) {
    guard let encoding = PQparameterStatus(raw, "server_encoding"), String(cString: encoding) == "UTF8" else {
      throw .failed(operation: "a database with the encoding UTF8 is needed; opening one with another", code: EINVAL)
    }
    try run(
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'", raw)
    // A connection that is cut must not keep its locks for long.
    try run("SET idle_in_transaction_session_timeout = '20s'", raw)
    if try isPrepared(raw) { return }
    try run("BEGIN", raw)
    try run(PostgresSchema.lockForCreation, raw)
    // Another process may have been first.
    if try !isPrepared(raw) { for statement in PostgresSchema.creation { try run(statement, raw) } }
    try run("COMMIT", raw)
  }

  /// False if our schema does not exist.
  private func isPrepared(_ raw: OpaquePointer) throws(StorageError) -> Bool {
    let found = try run(PostgresSchema.look, raw)
    guard found?.bool(0, 0) == true else { return false }
    guard found?.bool(0, 1) == true else { throw .foreign }
    guard let version = try run(PostgresSchema.readVersion, raw)?.integer(0, 0) else { throw .foreign }
    guard version <= PostgresSchema.version else {
      throw .newerVersion(found: Int(version), known: PostgresSchema.version)
    }
    return true
  }

  /// Runs one statement, and fails if it takes too long.
  @discardableResult
  private func run(_ sql: String, _ raw: OpaquePointer) throws(StorageError) -> SQLResult? {
    guard PQsendQueryParams(raw, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw .unreachable(Self.message(raw)) }
    let deadline = ContinuousClock.now + .seconds(Self.statementSeconds)
    var result: SQLResult?
    while true {
      let unsent = PQflush(raw)
      guard unsent >= 0 else { throw .unreachable(Self.message(raw)) }
      while PQisBusy(raw) == 0 {
        guard let next = PQgetResult(raw) else { return result }
        let outcome = SQLOutcome(owning: next)
        guard case .rows(let rows) = outcome else {
          throw outcome.failure?.storageError ?? .unreachable(Self.message(raw))
        }
        result = rows
      }
      guard ContinuousClock.now < deadline else { throw .unreachable("the server does not answer") }
      var descriptor = pollfd(fd: PQsocket(raw), events: Int16(POLLIN | (unsent > 0 ? POLLOUT : 0)), revents: 0)
      poll(&descriptor, 1, 100)
      guard descriptor.revents == 0 || PQconsumeInput(raw) == 1 else { throw .unreachable(Self.message(raw)) }
    }
  }

  /// libpq's message, in one line.
  private static func message(_ raw: OpaquePointer) -> String {
    PQerrorMessage(raw).map { SQLOutcome.firstLine(String(cString: $0)) } ?? "no connection"
  }
}

/// Texts for a C function that takes an array of them, which ends with a null pointer.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let copies: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String]) {
    copies = texts.map { strdup($0) }
    pointers = .allocate(capacity: texts.count + 1)
    for (index, copy) in copies.enumerated() { (pointers + index).initialize(to: copy.map { UnsafePointer($0) }) }
    (pointers + texts.count).initialize(to: nil)
  }

  deinit {
    for copy in copies { free(copy) }
    pointers.deallocate()
  }
}
