import Foundation

/// The threads of this process, as the system sees them: work off the loop goes on while one of them runs.
enum OtherThreads {
  /// Whether all threads but the present one sleep.
  static func sleep() -> Bool {
    // The present thread is one of those that run.
    var runningCount = 0
    guard let directory = opendir("/proc/self/task") else { return true }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if Int(name) != nil, state(of: name) == UInt8(ascii: "R") { runningCount += 1 }
    }
    return runningCount < 2
  }

  /// The letter behind the thread's name, which stands in parentheses.
  private static func state(of thread: String) -> UInt8? {
    let file = open("/proc/self/task/\(thread)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = read(file, &bytes, bytes.count)
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return nil }
    return bytes[end + 2]
  }
}
