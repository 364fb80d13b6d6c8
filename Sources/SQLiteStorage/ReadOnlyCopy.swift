import AutomergeRepo
import FileStorage
import Foundation

/// A readable copy of a store without write permission. Removed with the last reference.
///
/// With a write-ahead log, SQLite must be able to write even to read.
final class ReadOnlyCopy: Sendable {
  private let directory: String
  var path: String { directory + "/" + DatabaseFile.name }

  /// Nil if the store is writable, or does not exist and can be created.
  init?(ofStoreIn directory: String) throws(StorageError) {
    let path = directory + "/" + DatabaseFile.name
    let exists = access(path, F_OK) == 0
    if access(directory, W_OK | X_OK) == 0 && (!exists || access(path, W_OK) == 0) { return nil }
    guard exists else { throw .notPermitted }
    var template = Array((NSTemporaryDirectory() + "notes-lsp-XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) } != nil
    }
    guard made else { throw StorageError(operation: "mkdtemp", code: errno) }
    self.directory = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do {
      for ending in ["", "-wal"] where access(path + ending, F_OK) == 0 {
        try FileManager.default.copyItem(atPath: path + ending, toPath: self.path + ending)
        chmod(self.path + ending, 0o600)
      }
    } catch {
      throw .failed(operation: "copy of a store that cannot be written", code: EIO)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }
}
