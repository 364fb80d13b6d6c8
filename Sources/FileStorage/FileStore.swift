import AutomergeRepo
import Dispatch
import Foundation

/// A store on plain files: one for each key, named by the key, in a directory for each prefix.
///
/// When `save` has returned, its bytes survive a loss of power: they are synced before the rename, and the directory
/// after it. Several processes may use one directory, because chunks are named by their content and files appear
/// completely or not at all. All work runs on one private queue, in the order of the calls.
public final class FileStore: StorageProvider {
  private let files: StoreFiles
  private let queue = DispatchQueue(label: "notes-lsp.store", qos: .userInitiated)

  /// Opens the store in `directory`, which is created, for its owner only, if it is missing. Throws `failed` for a URL
  /// that names no file.
  public init(directory: URL) throws(StorageError) {
    guard directory.isFileURL else { throw StorageError(operation: "open \(directory)", code: EINVAL) }
    files = try StoreFiles(root: directory.path)
  }

  public func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    try await run(on: key) { files, path throws(StorageError) in try files.read(path) }
  }

  public func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    try await run(on: key) { files, path throws(StorageError) in try files.write(data, to: path) }
  }

  public func remove(_ key: StorageKey) async throws(StorageError) {
    try await run(on: key) { files, path throws(StorageError) in try files.remove(path) }
  }

  public func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    try await run { files throws(StorageError) in
      var items: [StoredItem] = []
      for (key, path) in try files.list(prefix) {
        // Another process that compacts may have removed it since it was listed.
        if let data = try files.read(path) { items.append(StoredItem(key: key, data: data)) }
      }
      return items
    }
  }

  public func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    try await run { files throws(StorageError) in
      for (_, path) in try files.list(prefix) { try files.remove(path) }
    }
  }

  public func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    try await run { files throws(StorageError) in
      let names = try files.names(in: try FileNames.directory(of: prefix))
      return Array(Set(names.compactMap { FileNames.component(ofEntry: $0) }))
    }
  }

  /// Works on the file of a key. One with so many names that the system has no such path cannot be stored.
  private func run<Result: Sendable>(
    on key: StorageKey, _ body: @escaping @Sendable (StoreFiles, String) throws(StorageError) -> Result
  ) async throws(StorageError) -> Result {
    try await run { files throws(StorageError) in
      do throws(StorageError) {
        return try body(files, try FileNames.file(of: key))
      } catch .failed(_, ENAMETOOLONG) {
        throw .invalidKey(key)
      }
    }
  }

  private func run<Result: Sendable>(
    _ body: @escaping @Sendable (StoreFiles) throws(StorageError) -> Result
  ) async throws(StorageError) -> Result {
    let outcome: Swift.Result<Result, StorageError> = await withCheckedContinuation { continuation in
      queue.async { [files] in
        do throws(StorageError) {
          continuation.resume(returning: .success(try body(files)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try outcome.get()
  }
}
