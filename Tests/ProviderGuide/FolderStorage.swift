import AutomergeRepo
import Foundation

/// A store in a folder: a file for each key.
struct FolderStorage: StorageProvider {
  private let folder: URL

  init(at folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    try perform("read") { try Data(contentsOf: file(of: key)) }
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    guard !key.isEmpty else { throw .invalidKey(key) }
    _ = try perform("write") { try data.write(to: file(of: key), options: .atomic) }
  }

  func remove(_ key: StorageKey) async throws(StorageError) {
    _ = try perform("remove") { try FileManager.default.removeItem(at: file(of: key)) }
  }

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    var items: [StoredItem] = []
    for key in try keys(under: prefix) {
      // Another process may have removed the file since it was listed.
      if let data = try await load(key) { items.append(StoredItem(key: key, data: data)) }
    }
    return items
  }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) {
    for key in try keys(under: prefix) { try await remove(key) }
  }

  func children(of prefix: StorageKey) async throws(StorageError) -> [String] {
    Array(Set(try keys(under: prefix).filter { $0.count > prefix.count }.map { $0[prefix.count] }))
  }

  private static let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-")

  /// The name of a key's file: `=` before each component, and everything but small letters, digits and `-` as `%` and two digits.
  private static func name(of key: StorageKey) -> String {
    key.map { "=" + ($0.addingPercentEncoding(withAllowedCharacters: plain) ?? "") }.joined()
  }

  /// The key of a file's name; nil for other files, such as those that are being written.
  private static func key(of name: String) -> StorageKey? {
    guard name.hasPrefix("=") else { return nil }
    return name.dropFirst().split(separator: "=", omittingEmptySubsequences: false).map {
      $0.removingPercentEncoding ?? ""
    }
  }

  private func file(of key: StorageKey) -> URL { folder.appendingPathComponent(Self.name(of: key)) }

  private func keys(under prefix: StorageKey) throws(StorageError) -> [StorageKey] {
    let names = try perform("list") { try FileManager.default.contentsOfDirectory(atPath: folder.path) } ?? []
    return names.compactMap(Self.key).filter { $0.starts(with: prefix) }
  }

  /// Runs `body`; returns nil if there is no such file.
  private func perform<Result>(_ operation: String, _ body: () throws -> Result) throws(StorageError) -> Result? {
    do {
      return try body()
    } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
      return nil
    } catch CocoaError.fileWriteOutOfSpace {
      throw .full
    } catch CocoaError.fileReadNoPermission, CocoaError.fileWriteNoPermission {
      throw .notPermitted
    } catch {
      throw .failed(operation: operation, code: Int32(truncatingIfNeeded: (error as NSError).code))
    }
  }
}
