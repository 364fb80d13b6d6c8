import AutomergeRepo
import FileStorage
import Foundation
import GRDB
import Logging
import Synchronization

/// The database of a store on disk: opened on first use, reopened when the disk has failed, rebuilt when it is damaged,
/// followed when its file is replaced. Blocks; the caller must not call it on the loop.
final class DatabaseFile: Sendable {
  static let name = "notes.db"
  /// How long to wait for other processes' locks. Source: Storage.md, "When it fails".
  static let maximumWait: TimeInterval = 5
  /// The write-ahead log is truncated to this size after a checkpoint.
  private static let maximumLogByteCount = 64 << 20

  /// The open connection and its file.
  private struct State {
    var database: DatabaseQueue?
    var identity: FileIdentity?
    /// A read-only store's copy, if that is open.
    var copy: ReadOnlyCopy?
  }

  let directory: String
  private let kind: FileSystemKind
  /// Whether a damaged file is set aside and rebuilt; otherwise it is left alone, and every operation fails.
  private let rebuilds: Bool
  private let log = Logger(label: "store")
  private let state = Mutex(State())
  private let losses = Atomic<Int>(0)
  let asides = StoreSetAsideNews()

  init(directory: String, kind: FileSystemKind, rebuilds: Bool) {
    (self.directory, self.kind, self.rebuilds) = (directory, kind, rebuilds)
  }

  var path: String { directory + "/" + Self.name }
  var lossCount: Int { losses.load(ordering: .relaxed) }
  var isReadOnly: Bool { state.withLock { $0.copy != nil } }

  /// Runs `body` on the open database. If the database turns out to be damaged, rebuilds it and runs `body` once more.
  func perform<Result: Sendable>(_ body: (Database) throws -> Result) throws(StorageError) -> Result {
    do {
      return try attempt(body)
    } catch is Damage {
      do {
        return try attempt(body)
      } catch let error as StorageError {
        throw error
      } catch {
        throw .failed(operation: "rebuild", code: EIO)
      }
    } catch let error as StorageError {
      throw error
    } catch {
      throw StorageError(database: error)
    }
  }

  /// The database was rebuilt. It is open, and earlier results are invalid.
  private struct Damage: Error {}

  private func attempt<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
    try state.withLock { state throws in
      do {
        let database = try opened(&state)
        let result = try database.writeWithoutTransaction(body)
        // Commits to a removed file are not stored.
        guard state.copy != nil || FileIdentity(path: path) == state.identity else {
          try follow(&state)
          throw Damage()
        }
        return result
      } catch let error as DatabaseError {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
          // Another process may have put a sound file in its place.
          let isReplaced = state.database != nil && state.copy == nil && FileIdentity(path: path) != state.identity
          guard rebuilds || isReplaced else { throw StorageError.damagedFile(error.message ?? "it is not a database") }
          log.error("The store is damaged (\(error.message ?? "")); it is being rebuilt.")
          try rebuild(&state)
          throw Damage()
        case .SQLITE_IOERR:
          // The kernel may have dropped what it could not write, so close everything and open it again.
          close(&state)
          throw StorageError(database: error)
        default:
          throw StorageError(database: error)
        }
      }
    }
  }

  // MARK: Opening

  private func opened(_ state: inout State) throws -> DatabaseQueue {
    if let database = state.database {
      if state.copy != nil || FileIdentity(path: path) == state.identity { return database }
      try follow(&state)
    }
    if let database = state.database { return database }
    if let copy = try ReadOnlyCopy(ofStoreIn: directory) {
      log.warning("The store in \(directory) cannot be written; nothing will be stored.")
      let database = try connect(copy.path, isCopy: true)
      state = State(database: database, identity: nil, copy: copy)
      return database
    }
    let lock = try StoreLock(directory: directory)
    let database = try openLocked()
    _ = consume lock
    state = State(database: database, identity: FileIdentity(path: path), copy: nil)
    return database
  }

  /// Opens, creates or rebuilds the database. The caller holds the lock.
  private func openLocked() throws -> DatabaseQueue {
    // A database has bytes as soon as it is made. SQLite would take a file that lost them for a new one.
    if StoreFileHeader(directory: directory) == .empty {
      guard rebuilds else { throw StorageError.damagedFile("it is empty: its bytes are lost") }
      let aside = try setAside(.empty)
      log.error("The store's file was empty; it is kept in \(aside), and a new store begins.")
    }
    do {
      return try connect(path, isCopy: false)
    } catch let error as DatabaseError {
      guard error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB else { throw error }
      guard rebuilds else { throw StorageError.damagedFile(error.message ?? "it is not a database") }
      log.error("The store is damaged (\(error.message ?? "")); it is being rebuilt.")
      return try rebuildLocked()
    }
  }

  private func connect(_ path: String, isCopy: Bool) throws -> DatabaseQueue {
    // Create the file here, because SQLite would let every user read it.
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StorageError(operation: "open \(path)", code: errno) }
    Foundation.close(descriptor)
    let database = try DatabaseQueue(path: path, configuration: configuration(isCopy: isCopy))
    try database.writeWithoutTransaction { database in
      try StoreSchema.prepare(database)
      // After a failed fsync the log may exist only in memory. This writes it again, and syncs.
      if kind == .local || isCopy { try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    }
    return database
  }

  private func configuration(isCopy: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.label = "store"
    configuration.busyMode = .timeout(Self.maximumWait)
    let usesLog = kind == .local || isCopy
    configuration.prepareDatabase { database in
      if usesLog {
        try database.execute(sql: "PRAGMA journal_mode = WAL")
        try database.execute(sql: "PRAGMA journal_size_limit = \(Self.maximumLogByteCount)")
      } else {
        try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE")
      }
      try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
    }
    return configuration
  }

  private func close(_ state: inout State) {
    try? state.database?.close()
    state = State()
  }

  // MARK: Repair

  /// Handles a file that was removed or replaced while open: copies its content to the one that is there now.
  private func follow(_ state: inout State) throws {
    log.error("The store's file was removed or replaced; what it held is written to the one that is there now.")
    guard let old = state.database else { return }
    let lock = try StoreLock(directory: directory)
    let new = try openLocked()
    let count = try Salvage.copy(from: old, to: new)
    _ = consume lock
    log.notice("\(count) items were carried over.")
    close(&state)
    state = State(database: new, identity: FileIdentity(path: path), copy: nil)
    losses.add(1, ordering: .relaxed)
  }

  /// Creates a new database from everything that can be read of this one.
  func rebuild() throws(StorageError) {
    do {
      try state.withLock { state in
        _ = try opened(&state)
        try rebuild(&state)
      }
    } catch {
      throw StorageError(database: error)
    }
  }

  private func rebuild(_ state: inout State) throws {
    let lock = try StoreLock(directory: directory)
    let isOurs = FileIdentity(path: path) == state.identity
    close(&state)
    // Another process may have rebuilt it already.
    let database = isOurs ? try rebuildLocked() : try openLocked()
    _ = consume lock
    losses.add(1, ordering: .relaxed)
    state = State(database: database, identity: FileIdentity(path: path), copy: nil)
  }

  /// Sets the damaged files aside and creates a new database with every row that can still be read.
  private func rebuildLocked() throws -> DatabaseQueue {
    let aside = try setAside(.damaged)
    let new = try connect(path, isCopy: false)
    do {
      let old = try Salvage.open(aside + "/" + Self.name)
      let count = try Salvage.copy(from: old, to: new)
      try? old.close()
      log.error("The damaged store is kept in \(aside); \(count) items of it could be read.")
    } catch {
      log.error("The damaged store is kept in \(aside); nothing of it could be read: \(error)")
    }
    return new
  }

  /// Moves the files to a folder of their own, and returns that.
  private func setAside(_ cause: StoreSetAside.Cause) throws(StorageError) -> String {
    let aside = directory + "/damaged-\(Int64(Date().timeIntervalSince1970 * 1000))"
    guard mkdir(aside, 0o700) == 0 else { throw StorageError(operation: "mkdir \(aside)", code: errno) }
    for ending in ["", "-wal", "-shm"] {
      guard rename(path + ending, aside + "/" + Self.name + ending) == 0 || errno == ENOENT else {
        throw StorageError(operation: "rename \(path)\(ending)", code: errno)
      }
    }
    asides.tell(StoreSetAside(cause: cause, folder: aside))
    return aside
  }
}

extension StorageError {
  /// The file of a store that was opened without permission to rebuild it is damaged. Nothing was changed.
  static func damagedFile(_ reason: String) -> StorageError { .failed(operation: reason, code: EUCLEAN) }

  /// What is wrong with the file of a store that was opened without permission to rebuild it; nil for other errors.
  public var fileDamage: String? {
    guard case .failed(let reason, EUCLEAN) = self else { return nil }
    return reason
  }

  /// Translates an error of SQLite to a storage error.
  init(database error: any Error) {
    guard let error = error as? DatabaseError else {
      self = (error as? StorageError) ?? .failed(operation: "\(error)", code: EIO)
      return
    }
    self =
      switch error.resultCode {
      case .SQLITE_FULL: .full
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: .notPermitted
      case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
      case .SQLITE_NOTADB: .foreign
      default:
        .failed(operation: error.message ?? "sqlite \(error.extendedResultCode.rawValue)", code: EIO)
      }
  }
}
