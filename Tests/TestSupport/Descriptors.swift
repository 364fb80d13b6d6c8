import Foundation

/// One of this process's descriptors of an open file.
public func descriptor(of path: String) throws -> Int32 {
  var file = stat()
  guard stat(path, &file) == 0 else { throw CocoaError(.fileNoSuchFile) }
  for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
    var opened = stat()
    guard let number = Int32(name), fstat(number, &opened) == 0 else { continue }
    if opened.st_ino == file.st_ino, opened.st_dev == file.st_dev { return number }
  }
  throw CocoaError(.fileNoSuchFile)
}
