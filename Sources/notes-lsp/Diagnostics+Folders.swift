import Foundation

extension Diagnostics {
  /// Less free space than this is reported.
  private static let minimumSpace: Int64 = 64 << 20

  /// Checks whether a folder can be used, or made when it is first needed: it must be this person's, writable, and on a
  /// disk with free space.
  ///
  /// - Parameters:
  ///   - path: absolute
  ///   - variable: the environment variable that names another folder
  /// - Returns: whether the folder exists and can be listed
  func lookAtFolder(_ subject: String, _ path: String, variable: String) -> Bool {
    var found = stat()
    guard stat(path, &found) == 0 else {
      lookAtMissingFolder(subject, path, variable: variable, code: errno)
      return false
    }
    guard found.st_mode & S_IFMT == S_IFDIR else {
      bad(subject, "\(path) is a file", "Rename it, or set \(variable) to another folder.")
      return false
    }
    guard access(path, R_OK | W_OK | X_OK) == 0 else {
      if found.st_uid != geteuid() {
        let owner = getpwuid(found.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "user \(found.st_uid)"
        bad(
          subject, "\(path) belongs to \(owner)",
          "Take ownership (chown -R), or set \(variable) to another folder.")
      } else if errno == EROFS {
        bad(subject, "\(path) is on a disk that cannot be written", "Set \(variable) to another folder.")
      } else {
        bad(subject, "\(path) is not writable", "Make it writable: chmod u+rwx '\(path)'")
      }
      return false
    }
    if hasRoom(path) {
      good(subject, path)
    } else {
      bad(subject, "less than 64 MB of disk space is left in \(path)", "Free some space, or notes may not be stored.")
    }
    return true
  }

  private func lookAtMissingFolder(_ subject: String, _ path: String, variable: String, code: Int32) {
    let advice = "Set \(variable) to another folder, or HOME to your own."
    guard code == ENOENT || code == ENOTDIR else {
      return bad(subject, "\(path) cannot be looked into: \(String(cString: strerror(code)))", advice)
    }
    // The part of the path that exists; the rest is made in it.
    var parent = (path as NSString).deletingLastPathComponent
    var found = stat()
    while parent != "/", !parent.isEmpty, stat(parent, &found) != 0 {
      parent = (parent as NSString).deletingLastPathComponent
    }
    if parent != "/", found.st_mode & S_IFMT != S_IFDIR {
      bad(subject, "\(path) cannot be made: \(parent) is a file", advice)
    } else if access(parent, W_OK | X_OK) != 0 {
      bad(subject, "\(path) cannot be made: \(parent) is not writable", advice)
    } else if !hasRoom(parent) {
      bad(subject, "less than 64 MB of disk space is left for \(path)", "Free some space, or notes may not be stored.")
    } else {
      good(subject, "\(path) does not exist yet; your first note makes it")
    }
  }

  private func hasRoom(_ path: String) -> Bool {
    var space = statvfs()
    // If the system reports no free space, assume that there is enough.
    guard statvfs(path, &space) == 0 else { return true }
    return Int64(clamping: UInt64(space.f_bavail) &* UInt64(space.f_frsize)) >= Self.minimumSpace
  }
}
