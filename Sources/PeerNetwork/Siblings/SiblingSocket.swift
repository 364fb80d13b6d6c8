import Foundation
import UV

/// Where the processes of one store meet: a unix socket that only their user can reach, and the lock of who listens there.
struct SiblingSocket: Sendable {
  let path: String
  private let lockPath: String

  /// In the store's directory; where its path is too long for a socket, in a directory of the user's below `/tmp`.
  /// Throws `accessDenied` if that directory is somebody else's.
  init(home: String) throws(UVError) {
    lockPath = home + "/siblings.lock"
    let near = home + "/siblings"
    if near.utf8.count <= UnixSocketPath.maximumByteCount {
      path = near
      return
    }
    var info = stat()
    guard stat(home, &info) == 0 else { throw UVError(rawValue: -errno) }
    let folder = "/tmp/notes-lsp-\(getuid())"
    mkdir(folder, 0o700)
    var folderInfo = stat()
    guard lstat(folder, &folderInfo) == 0, folderInfo.st_mode & S_IFMT == S_IFDIR, folderInfo.st_uid == getuid(),
      folderInfo.st_mode & 0o077 == 0
    else { throw UVError(rawValue: -EACCES) }
    path = folder + "/\(info.st_dev)-\(info.st_ino)"
  }

  /// Nil while another process has it. Whoever has it may remove what lies at `path`.
  func tryLock() -> SiblingLock? { SiblingLock(path: lockPath) }
}

/// The right to listen for the siblings; lost when it is let go, or with the process.
final class SiblingLock {
  private let descriptor: Int32

  fileprivate init?(path: String) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }
}
