import Foundation

/// The notes as plain text files: read and written whole, off the loop, never half. Nothing is made through a symbolic link, and
/// nothing replaced, except by `replace`.
public actor WorkingFiles {
  public enum Failure: Error, Equatable, Sendable {
    case tooLarge(path: String, byteCount: Int)
    case notAFile(path: String)
    /// `code` is an `errno`.
    case system(path: String, operation: String, code: Int32)
  }

  /// Identifies a file's content without reading it.
  public struct Mark: Hashable, Sendable {
    public var inode: UInt64
    public var byteCount: Int
    /// The time of the last change of the content, since 1970.
    public var nanoseconds: Int

    public init(inode: UInt64, byteCount: Int, nanoseconds: Int) {
      (self.inode, self.byteCount, self.nanoseconds) = (inode, byteCount, nanoseconds)
    }

    fileprivate init(_ info: stat) {
      self.init(
        inode: UInt64(info.st_ino), byteCount: Int(info.st_size),
        nanoseconds: Int(info.st_mtim.tv_sec) &* 1_000_000_000 &+ Int(info.st_mtim.tv_nsec))
    }
  }

  /// The result of looking at a file.
  public enum Sight: Hashable, Sendable {
    case missing
    /// The file still has the given mark.
    case unchanged
    case found([UInt8], Mark)
  }

  /// Files over this many bytes are not notes.
  public static let maximumByteCount = 128 << 20

  public init() {}

  /// Returns nil if there is no such file.
  public func read(_ path: String) throws(Failure) -> [UInt8]? {
    guard case .found(let bytes, _) = try look(path, since: nil) else { return nil }
    return bytes
  }

  /// The file, unless it still has `mark`.
  public func look(_ path: String, since mark: Mark?) throws(Failure) -> Sight {
    guard let descriptor = try openToRead(path) else { return .missing }
    defer { close(descriptor) }
    var found = try self.mark(of: descriptor, path)
    if found == mark { return .unchanged }
    var bytes = try readAll(descriptor, path, expecting: found.byteCount)
    for _ in 0..<Self.maximumReadings {
      // Bytes read while another program writes are neither the old text nor the new one.
      let now = try self.mark(of: descriptor, path)
      if now == found { break }
      guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .system(path: path, operation: "seek", code: errno) }
      found = now
      bytes = try readAll(descriptor, path, expecting: found.byteCount)
    }
    return .found(bytes, found)
  }

  /// Nil if there is no such file.
  private func openToRead(_ path: String) throws(Failure) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor >= 0 { return descriptor }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw .system(path: path, operation: "open", code: errno)
  }

  /// Throws if there is a file that cannot be read, without reading it.
  private func checkIsReadable(_ path: String) throws(Failure) {
    guard let descriptor = try openToRead(path) else { return }
    defer { close(descriptor) }
    let byteCount = try mark(of: descriptor, path).byteCount
    guard byteCount <= Self.maximumByteCount else { throw .tooLarge(path: path, byteCount: byteCount) }
  }

  /// How many times to read a file again that changes during reading.
  private static let maximumReadings = 5

  private func mark(of descriptor: Int32, _ path: String) throws(Failure) -> Mark {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw .system(path: path, operation: "stat", code: errno) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    return Mark(info)
  }

  private func readAll(_ descriptor: Int32, _ path: String, expecting count: Int) throws(Failure) -> [UInt8] {
    guard count <= Self.maximumByteCount else { throw .tooLarge(path: path, byteCount: count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = readSome(descriptor, &buffer)
      if count == 0 { return bytes }
      if count < 0 { throw .system(path: path, operation: "read", code: errno) }
      bytes += buffer[..<count]
      guard bytes.count <= Self.maximumByteCount else { throw .tooLarge(path: path, byteCount: bytes.count) }
    }
  }

  /// Makes a new file and its folders, in one step where the file system knows links. Changes nothing and returns false if the
  /// file exists.
  public func create(_ path: String, _ bytes: [UInt8]) throws(Failure) -> Bool {
    var info = stat()
    if lstat(path, &info) == 0 { return false }
    do throws(Failure) {
      return try put(path, bytes, replacing: false)
    } catch .system(_, "link", let code) where code != ENOSPC && code != EDQUOT {
      return try fillInPlace(path, bytes)
    }
  }

  /// Makes a new file on a file system without links. Others may see it before it is complete.
  private func fillInPlace(_ path: String, _ bytes: [UInt8]) throws(Failure) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, Self.newFileMode)
    guard descriptor >= 0 else {
      if errno == EEXIST { return false }
      throw .system(path: path, operation: "create", code: errno)
    }
    do throws(Failure) {
      try fill(descriptor, bytes, path)
    } catch {
      unlink(path)
      throw error
    }
    synchronizeFolder(of: path)
    return true
  }

  /// Replaces a file that contains `expected`, or makes it if that is nil, in one step, and keeps the file's mode. A
  /// symbolic link is followed once, to the file it names.
  ///
  /// The old file keeps a second name until it has been read once more afterwards, so that nothing is missed which
  /// another program wrote into it a moment before. A file that cannot be read is not replaced.
  ///
  /// - Returns: the file's content, if it is not the expected one. The caller stores that before it calls `makeDurable`.
  public func replace(_ path: String, _ bytes: [UInt8], of expected: [UInt8]?) throws(Failure) -> [UInt8]? {
    try makeFolder(of: path)
    let target = target(of: path)
    var info = stat()
    let mode = stat(target, &info) == 0 ? info.st_mode & 0o7777 : nil
    let (descriptor, temporary) = try makeTemporary(for: target, mode: mode)
    defer { unlink(temporary) }
    try fill(descriptor, bytes, temporary)
    let before = try exchange(temporary, target, expecting: expected)
    guard before == expected else { return before }
    synchronizeFolder(of: target)
    return nil
  }

  /// Makes durable what `replace` has written.
  public func makeDurable(_ path: String) { synchronizeFolder(of: target(of: path)) }

  /// Where a symbolic link leads; the path itself if it is none.
  private func target(of path: String) -> String {
    guard let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
    return destination.hasPrefix("/") ? destination : (path as NSString).deletingLastPathComponent + "/" + destination
  }

  /// Replaces a file by another. Returns the replaced content, nil if there was none.
  private func exchange(_ new: String, _ target: String, expecting expected: [UInt8]?) throws(Failure) -> [UInt8]? {
    let old = new + "~"
    unlink(old)
    defer { unlink(old) }
    for _ in 0..<3 {
      try checkIsReadable(target)
      if link(target, old) == 0 {
        guard rename(new, target) == 0 else { throw .system(path: target, operation: "rename", code: errno) }
        do throws(Failure) {
          return try contents(of: old, expecting: expected)
        } catch {
          // Another program has just made it too large.
          rename(old, target)
          throw error
        }
      }
      guard errno == ENOENT else { break }
      if link(new, target) == 0 { return nil }
      guard errno == EEXIST else { break }
    }
    // This file system knows no second names.
    let before = try contents(of: target, expecting: expected)
    guard rename(new, target) == 0 else { throw .system(path: target, operation: "rename", code: errno) }
    return before
  }

  /// The content of a file; nil if there is none. Needs no memory if the content is as expected.
  private func contents(of path: String, expecting expected: [UInt8]?) throws(Failure) -> [UInt8]? {
    if let expected, holds(path, expected) { return expected }
    return try read(path)
  }

  /// Whether a file contains these bytes and nothing else, and does not change during the comparison.
  private func holds(_ path: String, _ bytes: [UInt8]) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard let found = try? mark(of: descriptor, path), found.byteCount == bytes.count else { return false }
    var rest = bytes[...]
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = readSome(descriptor, &buffer)
      if count == 0 { return rest.isEmpty && found == (try? mark(of: descriptor, path)) }
      guard count > 0, rest.starts(with: buffer[..<count]) else { return false }
      rest = rest.dropFirst(count)
    }
  }

  /// Writes a temporary file and puts it in place in one step; does not follow a symbolic link there. Unless
  /// `replacing`, changes nothing and returns false if the name is taken.
  public func put(_ path: String, _ bytes: [UInt8], replacing: Bool) throws(Failure) -> Bool {
    try makeFolder(of: path)
    let (descriptor, temporary) = try makeTemporary(for: path, mode: nil)
    defer { unlink(temporary) }
    try fill(descriptor, bytes, temporary)
    if replacing {
      guard rename(temporary, path) == 0 else { throw .system(path: path, operation: "rename", code: errno) }
    } else if link(temporary, path) != 0 {
      if errno == EEXIST { return false }
      throw .system(path: path, operation: "link", code: errno)
    }
    synchronizeFolder(of: path)
    return true
  }

  /// The names in a folder, in no particular order; nil if there is no such folder.
  public func names(in folder: String) throws(Failure) -> [String]? {
    guard let directory = opendir(folder) else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(path: folder, operation: "opendir", code: errno)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(validating: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Renames a file. Changes nothing and returns false if the new name is taken.
  public func move(_ path: String, to target: String) throws(Failure) -> Bool {
    try makeFolder(of: target)
    // Reserve the new name with an empty file first, so that the renaming can replace only that.
    let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return false }
      throw .system(path: target, operation: "create", code: errno)
    }
    close(descriptor)
    guard rename(path, target) == 0 else {
      let code = errno
      unlink(target)
      throw .system(path: path, operation: "rename", code: code)
    }
    synchronizeFolder(of: target)
    return true
  }

  /// Renames a folder. Changes nothing and returns false if the new name is taken; does nothing if there is no such
  /// folder.
  public func moveFolder(_ path: String, to target: String) throws(Failure) -> Bool {
    // Reserve the new name with an empty folder first, so that the renaming can replace only that.
    guard mkdir(target, 0o777) == 0 else {
      if errno == EEXIST { return false }
      throw .system(path: target, operation: "mkdir", code: errno)
    }
    guard rename(path, target) == 0 else {
      let code = errno
      rmdir(target)
      if code == ENOENT { return true }
      throw .system(path: path, operation: "rename", code: code)
    }
    synchronizeFolder(of: target)
    return true
  }

  /// Does nothing if there is no such file.
  public func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
      throw .system(path: path, operation: "remove", code: errno)
    }
    synchronizeFolder(of: path)
  }

  /// Removes a file that contains `expected`; leaves one with another content alone. Of a symbolic link to a file, removes only the
  /// link.
  ///
  /// - Returns: the file's content, if it is not the expected one. If two programs write the file during the call, no file has the
  ///   content that the first one wrote.
  public func remove(_ path: String, of expected: [UInt8]) throws(Failure) -> [UInt8]? {
    guard holds(path, expected) else { return try read(path) }
    let aside = Self.temporaryName(for: path) + "-"
    var info = stat()
    // Left by a process that died just when another program wrote the file.
    guard lstat(aside, &info) != 0 else { throw .system(path: aside, operation: "remove", code: EEXIST) }
    guard rename(path, aside) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(path: path, operation: "remove", code: errno)
    }
    defer { synchronizeFolder(of: path) }
    guard !holds(aside, expected) else {
      try remove(aside)
      return nil
    }
    let isBack = putBack(aside, as: path)
    let found = try read(isBack ? path : aside)
    if !isBack { try remove(aside) }
    return found
  }

  /// Gives a file its name again. False if another program has made a new file of this name.
  private func putBack(_ aside: String, as path: String) -> Bool {
    if link(aside, path) == 0 {
      unlink(aside)
      return true
    }
    var info = stat()
    return errno != EEXIST && lstat(path, &info) != 0 && rename(aside, path) == 0
  }

  /// The umask removes the permissions that the person does not grant to others.
  private static let newFileMode: mode_t = 0o666

  /// A name beside the file, one byte shorter than names may be, since a second one with one more character is needed.
  private static func temporaryName(for path: String) -> String {
    let ending = ".\(getpid()).notes-lsp~",
      excess = (path as NSString).lastPathComponent.utf8.count + ending.utf8.count - 254
    var start = path, left = excess
    while left > 0, let last = start.popLast() { left -= last.utf8.count }
    return start + ending
  }

  /// Makes an empty temporary file for a place, with the mode that the file there will have; nil for that of any new
  /// file.
  private func makeTemporary(for path: String, mode: mode_t?) throws(Failure) -> (descriptor: Int32, path: String) {
    let temporary = Self.temporaryName(for: path)
    // A process that died may have left one.
    unlink(temporary)
    let descriptor = open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode == nil ? Self.newFileMode : 0o600)
    guard descriptor >= 0 else { throw .system(path: temporary, operation: "create", code: errno) }
    if let mode { fchmod(descriptor, mode) }
    return (descriptor, temporary)
  }

  /// Writes everything, syncs, and closes in any case.
  private func fill(_ descriptor: Int32, _ bytes: [UInt8], _ path: String) throws(Failure) {
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw .system(path: path, operation: "write", code: errno) }
      rest = rest.dropFirst(written)
    }
    guard fsync(descriptor) == 0 else { throw .system(path: path, operation: "fsync", code: errno) }
  }

  /// A hidden folder, such as that of recovered texts, is for the person alone, because it contains copies of files
  /// that others may not be allowed to read.
  private func makeFolder(of path: String) throws(Failure) {
    let folder = (path as NSString).deletingLastPathComponent
    if (folder as NSString).lastPathComponent.hasPrefix("."), access(folder, F_OK) != 0 {
      try makeFolder(of: folder)
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw .system(path: folder, operation: "mkdir", code: errno)
      }
    }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw .system(path: folder, operation: "mkdir", code: errno)
    }
  }

  private func synchronizeFolder(of path: String) {
    let descriptor = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor >= 0 {
      fsync(descriptor)
      close(descriptor)
    }
  }
}

/// Calls `read`, and repeats it if a signal interrupts it.
private func readSome(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  while true {
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 || errno != EINTR { return count }
  }
}
