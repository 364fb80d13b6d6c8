import Foundation

/// A right that one process at a time has, as a lock on a file. Given back in `deinit`; the kernel frees it when the process
/// ends, however it ends.
public final class FileLock {
  private let descriptor: Int32

  /// Nil while another process holds the lock. Creates the file if it is missing; does not wait.
  public init?(path: String) {
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard opened >= 0 else { return nil }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      // Not in the property yet: once all of them are set, failing runs `deinit` too, and what that closed a second time could
      // be what another thread has just opened.
      close(opened)
      return nil
    }
    descriptor = opened
  }

  deinit { close(descriptor) }
}
