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

  deinit { close(descriptor) }
}
