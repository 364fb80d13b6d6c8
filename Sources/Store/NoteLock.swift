import Foundation

/// A lock on one note's working file, among the processes of one store. The kernel releases it however the process ends.
public final class NoteLock: Sendable {
  private let descriptor: Int32

  /// Nil if another process holds a conflicting lock. Does not wait.
  ///
  /// - Parameters:
  ///   - directory: the folder of the locks; created if missing.
  ///   - name: the note's lock name, fit for a file name.
  public init?(directory: String, name: String, exclusively: Bool) {
    let path = directory + "/" + name
    var opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if opened < 0, errno == ENOENT {
      mkdir(directory, 0o700)
      opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard opened >= 0 else { return nil }
    guard flock(opened, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
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
}
