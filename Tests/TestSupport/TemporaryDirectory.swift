import Foundation

/// A directory for one test, gone with its content when the last reference goes.
/// Its path is short, because unix sockets below it must fit into 108 bytes.
public final class TemporaryDirectory {
  public let path: String

  public init(prefix: String = "notes") throws {
    var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) } != nil
    }
    guard made else { throw ProcessError.system(call: "mkdtemp", errno: errno) }
    path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // To look at what a failed test has left.
    if ProcessInfo.processInfo.environment["NOTES_KEEP_FILES"] == nil {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// The path of an entry, which need not exist.
  public func file(_ name: String) -> String { path + "/" + name }

  /// Makes a directory below this one and returns its path.
  public func directory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    return file(name)
  }
}
