import Foundation
import UV

/// Where the processes of one store connect: a unix socket that only their user can reach, and the listening process's
/// lock.
struct SiblingSocket: Sendable {
  let path: String
  private let lockPath: String

  /// In the store's directory; if that path is too long for a socket, in a directory of the user's below `/tmp`. Throws
  /// `accessDenied` if that directory belongs to another user.
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

  /// The right to listen for siblings; nil while another process has it. Its holder may remove the file at `path`.
  func tryLock() -> FileLock? { FileLock(path: lockPath) }
}
