import Foundation
import NotesServer
import Synchronization

/// Working files in memory. One process uses them, so a claim is always given unless it was given exclusively.
final class MemoryFiles: WorkingFileAccess {
  private let files = Mutex<[String: [UInt8]]>([:])
  private let claims = Mutex<[String: Int]>([:])
  private let dates = Mutex<[String: Date]>([:])
  private let reads = Mutex<[String: Int]>([:])
  /// Whether the disk is full.
  let isFull = Mutex(false)
  /// Whether files cannot be removed, as in a folder that the person may not write.
  let isFixed = Mutex(false)
  /// The paths of things that are not files.
  let unreadable = Mutex<Set<String>>([])
  /// Called before a file is made.
  let onCreate = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called before the service looks at a file.
  let onLook = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called before a file is replaced.
  let onReplace = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called after a file was replaced.
  let onReplaced = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called when what a file was replaced by is made durable.
  let onDurable = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called before a file is renamed.
  let onMove = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })
  /// Called before a file is removed that must have an expected content.
  let onRemove = Mutex<@Sendable (_ path: String) async -> Void>({ _ in })

  subscript(path: String) -> [UInt8]? {
    get { files.withLock { $0[path] } }
    set { files.withLock { $0[path] = newValue } }
  }

  var paths: [String] { files.withLock { $0.keys.sorted() } }

  /// How often the file was read.
  func readCount(_ path: String) -> Int { reads.withLock { $0[path] ?? 0 } }

  /// Another program writes the file.
  ///
  /// - Parameter date: when; without one the file counts as written long ago.
  func write(_ path: String, _ text: String, at date: Date? = nil) {
    self[path] = Array(text.utf8)
    dates.withLock { $0[path] = date }
  }

  func read(_ path: String) async -> [UInt8]? {
    reads.withLock { $0[path, default: 0] += 1 }
    return self[path]
  }

  func look(_ path: String, since mark: FileMark?) async throws(WorkingFileError) -> FileSight {
    await onLook.withLock { $0 }(path)
    if unreadable.withLock({ $0.contains(path) }) { throw .failed(path, reason: "not a file") }
    guard let bytes = self[path] else { return .missing }
    let date = dates.withLock { $0[path] }
    let nanoseconds = date.map { Int(($0.timeIntervalSince1970 * 1e9).rounded()) } ?? 0
    return .found(bytes, FileMark(inode: 1, byteCount: bytes.count, nanoseconds: nanoseconds))
  }

  func create(_ path: String, _ bytes: [UInt8]) async -> Bool {
    await onCreate.withLock { $0 }(path)
    return put(path, bytes, isReplacing: false)
  }

  func write(_ path: String, _ bytes: [UInt8], replacing: Bool) async throws(WorkingFileError) -> Bool {
    if isFull.withLock({ $0 }) { throw .failed(path, reason: "write: No space left on device") }
    return put(path, bytes, isReplacing: replacing)
  }

  private func put(_ path: String, _ bytes: [UInt8], isReplacing: Bool) -> Bool {
    files.withLock { files in
      guard isReplacing || files[path] == nil else { return false }
      files[path] = bytes
      return true
    }
  }

  func replace(
    _ path: String, _ bytes: [UInt8], of expected: [UInt8]?
  ) async throws(WorkingFileError) -> [UInt8]? {
    await onReplace.withLock { $0 }(path)
    if isFull.withLock({ $0 }) { throw .failed(path, reason: "write: No space left on device") }
    let old = files.withLock { $0.updateValue(bytes, forKey: path) }
    await onReplaced.withLock { $0 }(path)
    return old == expected ? nil : old
  }

  func makeDurable(_ path: String) async { await onDurable.withLock { $0 }(path) }

  /// Nil where there is a file, as on a disk; any other folder exists.
  func names(in folder: String) async -> [String]? {
    let paths = files.withLock { Array($0.keys) }
    guard !paths.contains(folder) else { return nil }
    return paths.filter { ($0 as NSString).deletingLastPathComponent == folder }.map {
      ($0 as NSString).lastPathComponent
    }
  }

  func move(_ path: String, to target: String) async -> Bool {
    await onMove.withLock { $0 }(path)
    return files.withLock { files in
      guard files[target] == nil else { return false }
      files[target] = files.removeValue(forKey: path)
      return true
    }
  }

  func moveFolder(_ path: String, to target: String) async -> Bool {
    files.withLock { files in
      let (old, new) = (path + "/", target + "/")
      guard !files.keys.contains(where: { $0.hasPrefix(new) }) else { return false }
      for name in files.keys.filter({ $0.hasPrefix(old) }) {
        files[new + name.dropFirst(old.count)] = files.removeValue(forKey: name)
      }
      return true
    }
  }

  func remove(_ path: String) async { self[path] = nil }

  func remove(_ path: String, of expected: [UInt8]) async throws(WorkingFileError) -> [UInt8]? {
    if isFixed.withLock({ $0 }) { throw .failed(path, reason: "remove: Permission denied") }
    await onRemove.withLock { $0 }(path)
    return files.withLock { files in
      if files[path] == expected { files[path] = nil }
      return files[path]
    }
  }

  func claim(_ name: String, exclusively: Bool) -> (any NoteClaim)? {
    claims.withLock { claims in
      let count = claims[name] ?? 0
      guard exclusively ? count == 0 : count >= 0 else { return nil }
      claims[name] = exclusively ? -1 : count + 1
      return Claim { [weak self] in
        self?.claims.withLock { claims in claims[name] = exclusively ? 0 : max(0, (claims[name] ?? 1) - 1) }
      }
    }
  }

  private final class Claim: NoteClaim {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }
}

/// A process that keeps no journal.
struct NoJournal: JournalAccess {
  func append(_ bytes: [UInt8]) -> Int? { nil }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { nil }
  func deadRuns() async -> [String] { [] }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async {}
}
