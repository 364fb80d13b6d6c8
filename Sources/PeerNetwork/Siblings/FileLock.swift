import Foundation

/// A right that one process has at a time, as a lock on a file. Released in `deinit`; the kernel releases it when the
/// process ends, however it ends.
public final class FileLock {
  private let descriptor: Int32

  /// Nil while another process holds the lock. Creates the file if it is missing; does not wait.
  public init?(path: String) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else { return nil }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      // Not in the property yet: once all properties are set, a failure runs `deinit` too, which would close the
      // descriptor a second time, when it may belong to a file that another thread has just opened.
      close(opened)
      return nil
    }
    descriptor = opened
  }

  deinit {
    // A child process has a copy of the descriptor until it runs its program, and `close` alone leaves the lock with it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether a process has the lock, as far as the kernel says. Does not touch the lock: a process that tries to take it
  /// meanwhile gets it.
  public static func isTaken(path: String) -> Bool {
    var info = stat()
    guard stat(path, &info) == 0 else { return false }
    return (0..<maximumReads).contains { _ in isListed(info.st_ino) }
  }

  /// The kernel hands out the list of locks a page at a time. If a lock is released between two pages, the list may
  /// lack a lock that comes after it.
  private static let maximumReads = 4

  private static func isListed(_ file: ino_t) -> Bool {
    guard let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return false }
    // A line is `1: FLOCK ADVISORY WRITE 4711 fe:01:1234 0 EOF`. On some file systems the device differs from the one
    // that `stat` reports.
    return locks.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 5 && fields[1] == "FLOCK" && fields[3] == "WRITE"
        && fields[5].hasSuffix(":\(file)")
    }
  }
}
