import AutomergeRepo
import Foundation

/// The threads of this process, as the system sees them: work off the loop goes on while one of them runs.
///
/// Called after every step of a simulation, so the files with the states stay open as long as the threads are the same.
@AutomergeRepo
public enum OtherThreads {
  private static let directory = "/proc/self/task"
  /// One descriptor for each thread's state.
  private static var files: [Int32] = []
  private static var bytes = [UInt8](repeating: 0, count: 128)

  /// Gives tasks a few turns each. Returns whether they have come to rest, as far as it can be seen: no other thread has work.
  public static func rest() async -> Bool {
    for _ in 0..<2 {
      for _ in 0..<4 { await AutomergeRepo.yield() }
      guard areAsleep() else { return false }
    }
    return true
  }

  /// Whether all threads but the present one sleep.
  static func areAsleep() -> Bool {
    if threadCount() != files.count { list() }
    var runningCount = 0
    for file in files {
      guard let state = state(in: file) else {
        // This thread has ended, and another one may have begun.
        list()
        return false
      }
      // The present thread runs, too.
      if state == UInt8(ascii: "R") { runningCount += 1 }
    }
    return runningCount < 2
  }

  /// A folder has a link from each of its folders, from its parent and from itself.
  private static func threadCount() -> Int {
    var info = stat()
    return stat(directory, &info) == 0 ? Int(info.st_nlink) - 2 : 0
  }

  private static func list() {
    for file in files { close(file) }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    files = names.map { open("\(directory)/\($0)/stat", O_RDONLY | O_CLOEXEC) }.filter { $0 >= 0 }
  }

  /// The letter after the thread's name, which is in parentheses; nil if the thread has ended.
  private static func state(in file: Int32) -> UInt8? {
    let count = pread(file, &bytes, bytes.count, 0)
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return nil }
    return bytes[end + 2]
  }
}
