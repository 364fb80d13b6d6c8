import AutomergeRepo
import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system calls of a file store. Paths are below the root and made by `FileNames`. Blocks.
package struct StoreFiles: Sendable {
  /// Files that are being written, apart from the keys. The dot distinguishes the folder from every component.
  private static let temporary = ".writing"
  private static let counter = Atomic<Int>(0)

  private let root: String

  package init(root: String) throws(StorageError) {
    self.root = root.hasSuffix("/") ? root : root + "/"
    do {
      try FileManager.default.createDirectory(
        atPath: self.root + Self.temporary, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw StoreFiles.error("mkdir", ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code)
    }
    removeAbandonedFiles()
  }

  package func read(_ path: String) throws(StorageError) -> Data? {
    let file = open(root + path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw StoreFiles.error("open")
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw StoreFiles.error("fstat") }
    var data = Data(count: max(0, Int(status.st_size)))
    var position = 0
    while position < data.count {
      let count = data.withUnsafeMutableBytes { buffer in
        pread(file, buffer.baseAddress.map { $0 + position }, buffer.count - position, off_t(position))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw StoreFiles.error("read")
      }
      if count == 0 { break }
      position += count
    }
    return data.prefix(position)
  }

  func write(_ data: Data, to path: String) throws(StorageError) {
    let number = Self.counter.wrappingAdd(1, ordering: .relaxed).newValue
    let temporary = root + Self.temporary + "/\(getpid())-\(number)"
    do throws(StorageError) {
      try writeSynced(data, to: temporary)
      try publish(temporary, as: path)
    } catch {
      unlink(temporary)
      throw error
    }
    try syncDirectory(StoreFiles.parent(of: path))
  }

  private func writeSynced(_ data: Data, to path: String) throws(StorageError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw StoreFiles.error("create") }
    defer { close(file) }
    var position = 0
    while position < data.count {
      let count = data.withUnsafeBytes { buffer in
        pwrite(file, buffer.baseAddress.map { $0 + position }, buffer.count - position, off_t(position))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw StoreFiles.error("write")
      }
      position += count
    }
    guard fsync(file) == 0 else { throw StoreFiles.error("fsync") }
  }

  /// Renames a file, creating its directory, which another process may remove between two calls.
  private func publish(_ temporary: String, as path: String) throws(StorageError) {
    for _ in 0..<8 {
      if rename(temporary, root + path) == 0 { return }
      guard errno == ENOENT else { throw StoreFiles.error("rename") }
      try makeDirectory(StoreFiles.parent(of: path))
    }
    throw StoreFiles.error("rename", Int(ENOENT))
  }

  /// Creates a directory and its parents, each synced into its parent.
  private func makeDirectory(_ path: String) throws(StorageError) {
    guard !path.isEmpty, mkdir(root + path, 0o700) != 0, errno != EEXIST else {
      return try path.isEmpty ? () : syncDirectory(StoreFiles.parent(of: path))
    }
    guard errno == ENOENT, path.contains("/") else { throw StoreFiles.error("mkdir") }
    let parent = StoreFiles.parent(of: path)
    guard !parent.isEmpty else { throw StoreFiles.error("mkdir") }
    try makeDirectory(parent)
    guard mkdir(root + path, 0o700) == 0 || errno == EEXIST else { throw StoreFiles.error("mkdir") }
    try syncDirectory(parent)
  }

  /// Removes a file, and the directories that become empty.
  func remove(_ path: String) throws(StorageError) {
    guard unlink(root + path) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return }
      throw StoreFiles.error("unlink")
    }
    var parent = StoreFiles.parent(of: path)
    while !parent.isEmpty, rmdir(root + parent) == 0 { parent = StoreFiles.parent(of: parent) }
    try syncDirectory(parent)
  }

  /// The names in a directory; none if there is no such directory.
  func names(in directory: String) throws(StorageError) -> [String] {
    guard let stream = opendir(root + directory) else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw StoreFiles.error("opendir")
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// The keys that begin with `prefix`, with their files.
  package func list(_ prefix: StorageKey) throws(StorageError) -> [(key: StorageKey, path: String)] {
    var found: [(key: StorageKey, path: String)] = []
    if !prefix.isEmpty {
      let path = try FileNames.file(of: prefix)
      if access(root + path, F_OK) == 0 { found.append((prefix, path)) }
    }
    var open = [(key: prefix, path: try FileNames.directory(of: prefix))]
    while let (key, path) = open.popLast() {
      for name in try names(in: path) {
        guard let component = FileNames.component(ofEntry: name) else { continue }
        if name.hasSuffix(FileNames.ending) {
          found.append((key + [component], path + name))
        } else {
          open.append((key + [component], path + name + "/"))
        }
      }
    }
    return found
  }

  private func syncDirectory(_ path: String) throws(StorageError) {
    let directory = open(root + path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else {
      // Another process removed it, so it contained nothing to keep.
      if errno == ENOENT { return }
      throw StoreFiles.error("open")
    }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw StoreFiles.error("fsync") }
  }

  /// Removes the unfinished files of dead processes.
  private func removeAbandonedFiles() {
    let directory = root + Self.temporary
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      guard let process = name.split(separator: "-").first.flatMap({ pid_t($0) }), process != getpid() else { continue }
      if kill(process, 0) != 0, errno == ESRCH { unlink(directory + "/" + name) }
    }
  }

  /// The directory of a path, ending with a slash; empty at the root.
  private static func parent(of path: String) -> String {
    let whole = path.hasSuffix("/") ? path.dropLast() : path[...]
    return whole.lastIndex(of: "/").map { String(whole[...$0]) } ?? ""
  }

  private static func error(_ operation: String, _ code: Int? = nil) -> StorageError {
    StorageError(operation: operation, code: code.flatMap { Int32(exactly: $0) } ?? errno)
  }
}
