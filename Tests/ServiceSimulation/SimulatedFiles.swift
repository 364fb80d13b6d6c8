import AutomergeRepo
import Foundation
import NotesServer

/// One process's access to the working files.
@AutomergeRepo
final class SimulatedFiles: WorkingFileAccess {
  private nonisolated let process: SimulatedProcess

  nonisolated init(_ process: SimulatedProcess) { self.process = process }

  func read(_ path: String) async -> [UInt8]? {
    await process.waitForFiles()
    return process.disk[path]
  }

  func look(_ path: String, since mark: FileMark?) async -> FileSight {
    await process.waitForFiles()
    guard let file = process.disk.files[path] else { return .missing }
    return file.mark == mark ? .unchanged : .found(file.bytes, file.mark)
  }

  /// A disk that fails or is full accepts no file; one on which only the database is locked does.
  private func checkDisk(_ path: String) throws(WorkingFileError) {
    guard let failure = process.disk.failure, !process.disk.takesJournals else { return }
    let code = failure == .full ? ENOSPC : EIO
    throw .failed(path, reason: "write: \(String(cString: strerror(code)))")
  }

  func create(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError) -> Bool {
    try await write(path, bytes, replacing: false)
  }

  func write(_ path: String, _ bytes: [UInt8], replacing: Bool) async throws(WorkingFileError) -> Bool {
    await process.waitForFiles()
    guard process.isAlive, replacing || process.disk[path] == nil else { return false }
    try checkDisk(path)
    process.disk.write(path, bytes, by: "service \(process.number)")
    return true
  }

  func replace(
    _ path: String, _ bytes: [UInt8], of expected: [UInt8]?
  ) async throws(WorkingFileError) -> [UInt8]? {
    await process.waitForFiles()
    guard process.isAlive else { return nil }
    try checkDisk(path)
    let old = process.disk[path]
    process.disk.write(path, bytes, by: "service \(process.number)")
    guard old != expected else { return nil }
    process.disk.notDurable[path] = old
    return old
  }

  func makeDurable(_ path: String) async {
    await process.waitForFiles()
    if process.isAlive { process.disk.notDurable[path] = nil }
  }

  func names(in folder: String) async -> [String]? {
    await process.waitForFiles()
    return process.disk.files.keys.filter { ($0 as NSString).deletingLastPathComponent == folder }
      .map { ($0 as NSString).lastPathComponent }.sorted()
  }

  func move(_ path: String, to target: String) async -> Bool {
    await process.waitForFiles()
    guard process.isAlive, process.disk[target] == nil, process.disk[path] != nil else { return false }
    process.disk.rename(path, to: target)
    return true
  }

  func moveFolder(_ path: String, to target: String) async -> Bool {
    await process.waitForFiles()
    let (old, new) = (path + "/", target + "/")
    guard process.isAlive, !process.disk.files.keys.contains(where: { $0.hasPrefix(new) }) else { return false }
    for name in process.disk.files.keys.filter({ $0.hasPrefix(old) }).sorted() {
      process.disk.rename(name, to: new + name.dropFirst(old.count))
    }
    return true
  }

  func remove(_ path: String) async {
    await process.waitForFiles()
    if process.isAlive { process.disk.remove(path) }
  }

  func remove(_ path: String, of expected: [UInt8]) async -> [UInt8]? {
    await process.waitForFiles()
    guard process.isAlive else { return nil }
    guard process.disk[path] == expected else { return process.disk[path] }
    process.disk.remove(path)
    return nil
  }

  nonisolated func claim(_ name: String, exclusively: Bool) -> (any NoteClaim)? {
    guard AutomergeRepo.assumeIsolated({ process.isAlive }) else { return nil }
    return process.disk.locks.take(name, exclusively: exclusively, by: process.number)
  }
}
