import AutomergeRepo
import Foundation
import NotesServer
import RepoTestSupport

/// What outlives a person's processes: the store, the working files, and the journals. Processes use it through access objects,
/// which end with them.
@AutomergeRepo
public final class SimulatedDisk {
  struct File {
    var bytes: [UInt8]
    var mark: FileMark
  }

  /// What a process has journaled. It is dead once `isLocked` is false.
  struct Journal {
    var segments: [Int: [UInt8]] = [1: []]
    var isLocked = true
  }

  let clock: MachineClock
  /// The error of every write while the disk refuses writes.
  var failure: StorageError?
  /// Whether journals can still be written, as when only the database is locked.
  var takesJournals = false
  var items: [StorageKey: Data] = [:]
  var journals: [String: Journal] = [:]
  /// Called with the path, the content and the writer of each file that is written.
  var onWrite: (String, [UInt8], String) -> Void = { _, _, _ in }
  private(set) var files: [String: File] = [:]
  /// What files contained before they were replaced in a way that is not durable yet.
  var notDurable: [String: [UInt8]] = [:]
  private var fileCount: UInt64 = 0
  /// Called with the folder and the name of each file that is created, written or renamed.
  private var watchers: [Int: (folder: String, action: @AutomergeRepo (String) -> Void)] = [:]
  private var watcherCount = 0
  nonisolated let locks = SimulatedLocks()

  init(clock: MachineClock) { self.clock = clock }

  // MARK: Files

  /// The content of a file.
  public subscript(path: String) -> [UInt8]? { files[path]?.bytes }

  func remove(_ path: String) { files[path] = nil }

  /// The power fails: what was not made durable has not been written.
  func loseNotDurable() {
    for (path, bytes) in notDurable.sorted(by: { $0.key < $1.key }) where files[path] != nil {
      write(path, bytes, by: "the power failure")
    }
  }

  /// Writes in one step, like a program that renames a new file into place.
  func write(_ path: String, _ bytes: [UInt8], by writer: String) {
    fileCount += 1
    notDurable[path] = nil
    let nanoseconds = Int((clock.date.timeIntervalSince1970 * 1e9).rounded())
    files[path] = File(bytes: bytes, mark: FileMark(inode: fileCount, byteCount: bytes.count, nanoseconds: nanoseconds))
    onWrite(path, bytes, writer)
    changed(path)
  }

  func rename(_ path: String, to target: String) {
    files[target] = files.removeValue(forKey: path)
    notDurable[target] = notDurable.removeValue(forKey: path)
    changed(target)
  }

  private func changed(_ path: String) {
    let (folder, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
    for number in watchers.keys.sorted() where watchers[number]?.folder == folder {
      clock.schedule(after: .milliseconds(1)) { [weak self] in self?.watchers[number]?.action(name) }
    }
  }

  /// Whether a recovered text has the word.
  func hasRecovered(_ word: String) -> Bool {
    items.contains { $0.key.first == "recovered" && $0.value.range(of: Data(word.utf8)) != nil }
  }

  /// Whether a recovered text is exactly this.
  func hasRecovered(text: String) -> Bool {
    let encoded = CBOR.record(["text": .bytes(Data(text.utf8))]).encoded().dropFirst()
    return items.contains { $0.key.first == "recovered" && $0.value.range(of: Data(encoded)) != nil }
  }

  func watch(_ folder: String, _ action: @escaping @AutomergeRepo (String) -> Void) -> Int {
    watcherCount += 1
    watchers[watcherCount] = (folder, action)
    return watcherCount
  }

  func endWatch(_ number: Int) { watchers[number] = nil }
}
