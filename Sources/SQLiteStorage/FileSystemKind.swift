import Foundation

/// The kind of file system that a store is on: SQLite's write-ahead log needs memory that all processes share, which a
/// network file system does not offer.
public enum FileSystemKind: Hashable, Sendable {
  case local
  case network

  /// Asks the system for the file system of `directory`. An unknown one counts as local.
  public init(of directory: String) {
    #if os(Linux)
      let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
      self.init(of: (directory as NSString).resolvingSymlinksInPath, mounts: mounts)
    #else
      var info = statfs()
      let isLocal = statfs(directory, &info) != 0 || info.f_flags & UInt32(MNT_LOCAL) != 0
      self = isLocal ? .local : .network
    #endif
  }

  /// - Parameter mounts: in the form of `/proc/self/mountinfo`. Source: proc(5).
  init(of path: String, mounts: String) {
    var best: (length: Int, type: Substring) = (0, "")
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 6, let dash = fields.dropFirst(6).firstIndex(of: "-"), dash + 1 < fields.count else {
        continue
      }
      let point = FileSystemKind.unescaped(fields[4])
      guard point == "/" || path == point || path.hasPrefix(point + "/") else { continue }
      // A later mount at the same place covers an earlier one.
      if point.utf8.count >= best.length { best = (point.utf8.count, fields[dash + 1]) }
    }
    self = Self.networkTypes.contains(String(best.type)) ? .network : .local
  }

  private static let networkTypes: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone",
    "fuse.davfs2", "davfs", "ncpfs",
  ]

  /// White space is encoded there as a backslash and three octal digits.
  private static func unescaped(_ field: Substring) -> String {
    guard field.contains("\\") else { return String(field) }
    var bytes: [UInt8] = []
    var rest = field.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
