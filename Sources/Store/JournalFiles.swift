import Foundation
import Synchronization

/// The journals of a store's processes: append-only records of what each has received and may not have committed yet.
///
/// Every process writes a journal of its own, in segments: `journal/RUN.1`, `journal/RUN.2` and so on. `journal/RUN.lock` is
/// locked while the process lives, and the kernel frees it however the process ends. Nothing waits for the disk: what was
/// appended survives the end of the process, not of the machine.
public final class JournalFiles: Sendable {
  /// The segment that is being written.
  private struct Open {
    var lock: Int32
    var segment: Int32
    var number: Int
    var byteCount: Int
  }

  private let directory: String
  private let run: String
  private let open = Mutex<Open?>(nil)

  /// - Parameters:
  ///   - home: the store's directory.
  ///   - run: the name of this process, fit for a file name; never used before.
  public init(home: String, run: String) { (directory, self.run) = (home + "/journal", run) }

  deinit {
    open.withLock { open in
      guard let files = open else { return }
      close(files.segment)
      close(files.lock)
    }
  }

  private func path(_ run: String, _ suffix: String) -> String { directory + "/" + run + "." + suffix }

  private static func openFile(_ path: String, _ flags: Int32) -> Int32? {
    let descriptor = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    return descriptor < 0 ? nil : descriptor
  }

  // MARK: This process

  /// Appends bytes, and creates the journal if there is none yet. Returns the segment's size in bytes; nil if the write failed:
  /// then none of the bytes are there.
  public func append(_ bytes: [UInt8]) -> Int? {
    open.withLock { open in
      if open == nil { open = begin() }
      guard var files = open else { return nil }
      guard write(bytes, to: files.segment) else {
        ftruncate(files.segment, off_t(files.byteCount))
        lseek(files.segment, off_t(files.byteCount), SEEK_SET)
        return nil
      }
      files.byteCount += bytes.count
      open = files
      return files.byteCount
    }
  }

  private func begin() -> Open? {
    mkdir(directory, 0o700)
    guard let lock = Self.openFile(path(run, "lock"), O_RDWR | O_CREAT) else { return nil }
    var info = stat()
    // Before we locked the new file, another process may have mistaken it for a dead process's and removed it.
    guard flock(lock, LOCK_EX | LOCK_NB) == 0, fstat(lock, &info) == 0, info.st_nlink > 0,
      let segment = Self.openFile(path(run, "1"), O_WRONLY | O_CREAT | O_EXCL)
    else {
      close(lock)
      return nil
    }
    return Open(lock: lock, segment: segment, number: 1, byteCount: 0)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = Foundation.write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }

  /// Begins a new segment. Returns its number; nil if none could be created, so that the earlier one stays in use.
  public func beginSegment() -> Int? {
    open.withLock { open in
      guard var files = open,
        let segment = Self.openFile(path(run, String(files.number + 1)), O_WRONLY | O_CREAT | O_EXCL)
      else { return nil }
      close(files.segment)
      (files.segment, files.number, files.byteCount) = (segment, files.number + 1, 0)
      open = files
      return files.number
    }
  }

  /// Removes this process's segments before the one with this number. Everything in them must be stored.
  public func removeSegments(before number: Int) {
    for suffix in Self.segments(of: run, in: directory) where suffix < number { unlink(path(run, String(suffix))) }
  }

  /// Removes the journal of this process, which must be stored or no longer valid.
  public func end() {
    open.withLock { open in
      guard let files = open else { return }
      close(files.segment)
      removeFiles(of: run)
      close(files.lock)
      open = nil
    }
  }

  /// Leaves what was written to the next process, or to this one, as if another had died; the next `append` begins anew.
  public func abandon() {
    open.withLock { open in
      guard let files = open else { return }
      close(files.segment)
      let taken = Set(Self.runs(in: directory))
      let name = (1...).lazy.map { self.run + "-" + String($0) }.first { !taken.contains($0) } ?? run
      for number in Self.segments(of: run, in: directory) {
        rename(path(run, String(number)), path(name, String(number)))
      }
      unlink(path(run, "lock"))
      close(files.lock)
      open = nil
    }
  }

  // MARK: All processes

  /// The bytes that a process has written; nil if there is no such journal.
  ///
  /// - Throws: if a part of it cannot be read
  @concurrent
  public func read(_ run: String) async throws -> [UInt8]? {
    // A living process may replace its segments meanwhile, and another may remove a dead one's: the others may be out of date.
    for _ in 1..<Self.maximumReadings {
      do { return try readOnce(run) } catch let error as CocoaError where error.code == .fileReadNoSuchFile {}
    }
    return try readOnce(run)
  }

  private func readOnce(_ run: String) throws -> [UInt8]? {
    guard access(directory + "/.", F_OK) == 0 else { return nil }
    let numbers = Self.segments(of: run, among: try FileManager.default.contentsOfDirectory(atPath: directory))
    guard !numbers.isEmpty else { return nil }
    return try numbers.flatMap { try Data(contentsOf: URL(fileURLWithPath: path(run, String($0)))) }
  }

  private static let maximumReadings = 100

  /// The dead processes that left a journal.
  @concurrent
  public func deadRuns() async -> [String] { others { lockOfDead($0).map { close($0) } != nil } }

  /// The other processes that have a journal and are alive. The kernel frees the locks of a process that has ended one by one:
  /// for a moment this one may still be held, and others of the process be free.
  @concurrent
  public func livingRuns() async -> [String] { others { lockOfDead($0).map { close($0) } == nil } }

  private func others(where isWanted: (String) -> Bool) -> [String] {
    Set(Self.runs(in: directory)).filter { $0 != run && isWanted($0) }.sorted()
  }

  private static func runs(in directory: String) -> [String] {
    names(in: directory).compactMap { $0.split(separator: ".").first.map(String.init) }
  }

  /// Removes the journal of a dead process.
  @concurrent
  public func remove(_ run: String) async {
    guard let lock = lockOfDead(run) else { return }
    removeFiles(of: run)
    close(lock)
  }

  /// A shared lock: several processes, and several tasks of one, may find the same journal at once. One of them may just have
  /// removed it: then the lock must not be made again.
  private func lockOfDead(_ run: String) -> Int32? {
    let path = path(run, "lock")
    let creating = Self.segments(of: run, in: directory).isEmpty ? 0 : O_CREAT
    guard let lock = Self.openFile(path, O_RDWR | creating) else { return nil }
    if flock(lock, LOCK_SH | LOCK_NB) == 0 { return lock }
    close(lock)
    return nil
  }

  private func removeFiles(of run: String) {
    for number in Self.segments(of: run, in: directory) { unlink(path(run, String(number))) }
    unlink(path(run, "lock"))
  }

  private static func names(in directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
  }

  /// The numbers of a journal's segments, in their order.
  private static func segments(of run: String, in directory: String) -> [Int] {
    segments(of: run, among: names(in: directory))
  }

  private static func segments(of run: String, among names: [String]) -> [Int] {
    names.compactMap { name in
      name.hasPrefix(run + ".") ? Int(name.dropFirst(run.count + 1)) : nil
    }.sorted()
  }
}
