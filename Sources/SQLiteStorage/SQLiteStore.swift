import AutomergeRepo
import Dispatch
import FileStorage
import Foundation
import GRDB
import Logging
import Synchronization

/// A store in one SQLite database, which any number of processes may use at a time.
///
/// When `save` or `commit` has returned, its data survives a loss of power. All work runs on a queue of the store's
/// own; commits that wait there together become one transaction.
public final class SQLiteStore: StorageProvider {
  private let file: DatabaseFile
  private let queue = DispatchQueue(label: "notes-lsp.store", qos: .userInitiated)
  private let waiting = Mutex(Waiting())
  private let log = Logger(label: "store")

  /// Opens the store in `directory`, which is created, for its owner only, if it is missing. Imports a store of plain files in
  /// `directory/store`, of an earlier notes-lsp.
  ///
  /// - Parameters:
  ///   - fileSystem: the kind of file system; determined if it is nil.
  ///   - rebuilding: whether a damaged file is set aside, and rebuilt from what can be read. Otherwise it stays as it is, and
  ///     this and later operations throw an error that has `fileDamage`.
  /// - Throws: the error that a later `load` would throw, so that the program learns at once of an unusable store; `failed`
  ///   for a URL that names no file
  public static func open(
    directory: URL, fileSystem: FileSystemKind? = nil, rebuilding: Bool = true
  ) async throws(StorageError) -> SQLiteStore {
    guard directory.isFileURL else { throw StorageError(operation: "open \(directory)", code: EINVAL) }
    let path = directory.path
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
      let code = (cause as? POSIXError)?.code.rawValue ?? (cause as NSError?).flatMap { Int32(exactly: $0.code) }
      throw StorageError(operation: "mkdir \(path)", code: code ?? EIO)
    }
    let kind = fileSystem ?? FileSystemKind(of: path)
    let store = SQLiteStore(DatabaseFile(directory: path, kind: kind, rebuilds: rebuilding))
    if kind == .network {
      store.log.warning("The store lies on a network file system: one process at a time may use it, and slowly.")
    }
    try await store.run { file throws(StorageError) in
      try file.perform { _ in }
      if !file.isReadOnly { try FileStoreImport.run(into: file) }
    }
    return store
  }

  private init(_ file: DatabaseFile) { self.file = file }

  public var lossCount: Int { file.lossCount }

  /// Calls `action` for each database file that was set aside because it could not be used, now or later, on any queue.
  public func onSetAside(_ action: @escaping @Sendable (StoreSetAside) -> Void) { file.asides.listen(action) }

  /// Whether nothing can be stored, for lack of permission to write the directory or the file.
  public var isReadOnly: Bool { file.isReadOnly }

  // MARK: Reading

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    let text = try StoreSchema.text(of: key)
    let rows = try await run { file throws(StorageError) in
      try file.perform { database in
        try Row.fetchAll(
          database, sql: "SELECT id, key, sha256, bytes FROM item WHERE key = ?", arguments: [text]
        ).map { StoredRow($0) }
      }
    }
    guard let found = rows.first else { return nil }
    guard let row = found, row.isSound else { throw .damaged(key) }
    return row.data
  }

  /// Leaves out damaged rows, except those whose key names their content: their readers verify them, and handle the damage.
  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    try await run { [log] file throws(StorageError) in
      let rows = try file.perform { database in
        let (condition, arguments) = SQLiteStore.range(prefix)
        return try Array(
          Row.fetchCursor(
            database, sql: "SELECT id, key, sha256, bytes FROM item WHERE \(condition)", arguments: arguments
          ).map { StoredRow($0) })
      }
      return rows.compactMap { row in
        guard let row, let key = StorageKeyText.decode(row.keyText), key.starts(with: prefix) else {
          log.error("A row below \(prefix) cannot be read.")
          return nil
        }
        guard StorageKeyText.namesContent(key) || row.isSound else {
          log.error("What lies at \(key) is not what was put there.")
          return nil
        }
        return StoredItem(key: key, data: row.data)
      }
    }
  }

  /// - Complexity: O(children × log n)
  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    try await run { file throws(StorageError) in
      try file.perform { database in
        let text = StorageKeyText.prefix(prefix)
        let next = try database.cachedStatement(sql: "SELECT min(key) FROM item WHERE key > ?")
        var (children, from): ([String], String) = ([], text)
        while let found = try String.fetchOne(next, arguments: [from]), found.utf8.starts(with: text.utf8) {
          let component = found.utf8.dropFirst(text.utf8.count).prefix { $0 != UInt8(ascii: "/") }
          let path = text + String(Substring(component)) + "/"
          if let key = StorageKeyText.decode(path), let child = key.last { children.append(child) }
          from = StorageKeyText.end(ofPrefix: path)
        }
        return children
      }
    }
  }

  private static func range(_ prefix: StorageKey) -> (condition: String, arguments: StatementArguments) {
    let text = StorageKeyText.prefix(prefix)
    return text.isEmpty
      ? ("true", []) : ("key >= ? AND key < ?", [text, StorageKeyText.end(ofPrefix: text)])
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
    let text = try StoreSchema.text(of: item.key)
    let found = Int64(Date().timeIntervalSince1970 * 1000)
    try await write(byteCount: item.data.count) { database in
      try database.execute(
        sql: """
          INSERT INTO damaged (key, sha256, bytes, found)
          SELECT key, sha256, bytes, ? FROM item WHERE key = ? AND bytes = ?
          """, arguments: [found, text, item.data])
      try database.execute(sql: "DELETE FROM item WHERE key = ? AND bytes = ?", arguments: [text, item.data])
    }
  }

  public func commit(_ changes: [StorageChange]) async throws(StorageError) {
    var steps: [Step] = []
    for change in changes {
      switch change {
      case .save(let item): steps.append(.save(try StoreSchema.text(of: item.key), item.data))
      case .remove(let key): steps.append(.remove(try StoreSchema.text(of: key)))
      case .removeRange(let prefix): steps.append(.removeRange(prefix))
      case .update(let item, let record): steps.append(.update(try StoreSchema.text(of: item.key), item.data, record))
      }
    }
    guard !steps.isEmpty else { return }
    let all = steps
    try await write(byteCount: all.reduce(0) { $0 + $1.byteCount }) { database in
      for step in all { try step.carryOut(in: database) }
    } whenStored: {
      for case .update(_, let data, let record) in all { record.isStored(data) }
    }
  }

  private enum Step: Sendable {
    case save(String, Data)
    case remove(String)
    case removeRange(StorageKey)
    case update(String, Data, SharedRecord)

    var byteCount: Int {
      switch self {
      case .save(_, let data), .update(_, let data, _): data.count
      case .remove, .removeRange: 0
      }
    }

    func carryOut(in database: Database) throws {
      switch self {
      case .save(let key, let data): try StoreSchema.save(key, data, in: database)
      case .remove(let key):
        try database.cachedStatement(sql: "DELETE FROM item WHERE key = ?").execute(arguments: [key])
      case .removeRange(let prefix):
        let (condition, arguments) = SQLiteStore.range(prefix)
        try database.execute(sql: "DELETE FROM item WHERE \(condition)", arguments: arguments)
      case .update(let key, let data, let record):
        let found = try Row.fetchOne(
          database.cachedStatement(sql: "SELECT id, key, sha256, bytes FROM item WHERE key = ?"), arguments: [key]
        ).flatMap { StoredRow($0) }
        let stored = found.flatMap { $0.isSound ? $0.data : nil }
        try StoreSchema.save(key, record.merged(data, with: stored), in: database)
      }
    }
  }

  // MARK: Committing together

  /// The most commits that wait or are being made: many more than all open documents need while the file is locked.
  static let maximumCommits = 1 << 14
  static let maximumByteCount = 256 << 20

  private struct Commit: Sendable {
    var byteCount: Int
    var body: @Sendable (Database) throws -> Void
    var whenStored: @Sendable () -> Void
    var continuation: CheckedContinuation<StorageError?, Never>
  }

  private struct Waiting {
    var commits: [Commit] = []
    /// Of these, and of those that are being made.
    private var count = 0
    private var byteCount = 0

    /// False if there is no room.
    mutating func append(_ commit: Commit) -> Bool {
      guard count == 0 || count < maximumCommits && byteCount + commit.byteCount <= maximumByteCount else {
        return false
      }
      commits.append(commit)
      (count, byteCount) = (count + 1, byteCount + commit.byteCount)
      return true
    }

    mutating func ended(_ commit: Commit) { (count, byteCount) = (count - 1, byteCount - commit.byteCount) }
  }

  private func write(
    byteCount: Int, _ body: @escaping @Sendable (Database) throws -> Void,
    whenStored: @escaping @Sendable () -> Void = {}
  ) async throws(StorageError) {
    let error: StorageError? = await withCheckedContinuation { continuation in
      let commit = Commit(byteCount: byteCount, body: body, whenStored: whenStored, continuation: continuation)
      guard waiting.withLock({ $0.append(commit) }) else { return continuation.resume(returning: .busy) }
      queue.async { self.commitWaiting() }
    }
    if let error { throw error }
  }

  /// Makes all commits that have arrived since the last transaction in one. If that fails, makes each separately, so
  /// that a bad one does not prevent the others.
  private func commitWaiting() {
    let commits = waiting.withLock { waiting in
      defer { waiting.commits = [] }
      return waiting.commits
    }
    guard !commits.isEmpty else { return }
    if commits.count > 1, transaction(commits) == nil {
      for commit in commits { end(commit, nil) }
    } else {
      for commit in commits { end(commit, transaction([commit])) }
    }
  }

  private func end(_ commit: Commit, _ error: StorageError?) {
    waiting.withLock { $0.ended(commit) }
    commit.continuation.resume(returning: error)
  }

  private func transaction(_ commits: [Commit]) -> StorageError? {
    if file.isReadOnly { return .notPermitted }
    do throws(StorageError) {
      try file.perform { database in
        try database.inTransaction(.immediate) {
          for commit in commits { try commit.body(database) }
          return .commit
        }
      }
      for commit in commits { commit.whenStored() }
      return nil
    } catch {
      return error
    }
  }

  func run<Result: Sendable>(
    _ body: @escaping @Sendable (DatabaseFile) throws(StorageError) -> Result
  ) async throws(StorageError) -> Result {
    let outcome: Swift.Result<Result, StorageError> = await withCheckedContinuation { continuation in
      queue.async { [file] in
        do throws(StorageError) {
          continuation.resume(returning: .success(try body(file)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try outcome.get()
  }
}
