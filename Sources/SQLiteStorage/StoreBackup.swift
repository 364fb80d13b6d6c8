import AutomergeRepo
import FileStorage
import Foundation
import GRDB

extension SQLiteStore {
  /// Writes a copy of the store, as of one moment, to a new file. Other processes may continue to use the store.
  ///
  /// The file appears completely or not at all. It is a database like the store's own, and can replace it. Throws
  /// `failed` with `EEXIST` if the file exists, unless it is to be replaced.
  /// - Complexity: O(n) in the bytes.
  public func backup(to path: String, replacing: Bool = false) async throws(StorageError) {
    try await run { file throws(StorageError) in
      if !replacing, access(path, F_OK) == 0 { throw .failed(operation: "backup to \(path)", code: EEXIST) }
      let temporary = "\(path).\(getpid()).notes-lsp~"
      defer { unlink(temporary) }
      unlink(temporary)
      let descriptor = Foundation.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw StorageError(operation: "create \(temporary)", code: errno) }
      defer { close(descriptor) }
      do {
        let copy = try DatabaseQueue(path: temporary)
        try file.perform { database in try copy.writeWithoutTransaction { try database.backup(to: $0) } }
        // Without a write-ahead log the copy is a single file.
        try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try copy.close()
      } catch {
        throw StorageError(database: error)
      }
      guard fsync(descriptor) == 0 else { throw StorageError(operation: "fsync", code: errno) }
      // A link fails where a rename would replace a file that another process has put there meanwhile.
      guard (replacing ? rename(temporary, path) : link(temporary, path)) == 0 else {
        throw StorageError(operation: "backup to \(path)", code: errno)
      }
      let folder = Foundation.open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      if folder >= 0 {
        fsync(folder)
        close(folder)
      }
    }
  }
}
