import Foundation

/// The right to speak for a store: one process at a time has it, and loses it when it dies.
final class NetworkLock {
  private let descriptor: Int32

  /// Nil if another process has it.
  init?(home: String) {
    descriptor = open(home + "/net.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }
}
