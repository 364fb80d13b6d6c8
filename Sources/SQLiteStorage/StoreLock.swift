import AutomergeRepo
import FileStorage
import Foundation

/// Keeps the processes of a store apart while one of them makes, imports or rebuilds the database. The kernel releases
/// it when the process dies.
struct StoreLock: ~Copyable {
  /// How long to wait for other processes.
  static let maximumWait: Duration = .seconds(10)
  private let descriptor: Int32

  /// Takes the lock. Blocks until it is free.
  init(directory: String) throws(StorageError) {
    // Do not assign the property before locking: if the initializer throws after that, `deinit` runs and closes the
    // file twice.
    let opened = open(directory + "/notes.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw StorageError(operation: "open notes.lock", code: errno) }
    let deadline = ContinuousClock.now + Self.maximumWait
    while flock(opened, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let code = errno
        close(opened)
        throw StorageError(operation: "lock", code: code)
      }
      guard ContinuousClock.now < deadline else {
        close(opened)
        throw .busy
      }
      usleep(5_000)
    }
    descriptor = opened
  }

  deinit {
    // A child process has a copy of the descriptor until it runs its program, and `close` alone leaves the lock with it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// Identifies the file at a path. It changes when the file is removed, renamed or replaced.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// Nil if there is none.
  init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    (device, number) = (UInt64(truncatingIfNeeded: info.st_dev), UInt64(info.st_ino))
  }
}
