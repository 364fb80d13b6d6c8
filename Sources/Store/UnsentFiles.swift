import Foundation

/// Files in which editors keep the words that a service may not have read: `unsent/NAME.json` in the store's directory.
///
/// Other programs can write there, too: only regular files count, at most `maximumCount`, of at most `maximumByteCount` each.
public struct UnsentFiles: Sendable {
  /// Files over this many bytes are ignored.
  public static let maximumByteCount = 64 << 20
  /// How many files count, the first by their names.
  public static let maximumCount = 256
  private static let ending = ".json"

  /// The folder, which an editor creates.
  public let folder: String

  /// - Parameter home: the store's directory.
  public init(home: String) { folder = home + "/unsent" }

  @concurrent
  public func names() async -> [String] {
    guard let directory = openDirectory() else { return [] }
    defer { close(directory) }
    // An editor writes a file under another name before it gives it this one.
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
      $0.hasSuffix(Self.ending) && !$0.hasPrefix(".")
    }
    return Array(names.sorted().lazy.filter { Self.isWanted($0, in: directory) }.prefix(Self.maximumCount))
  }

  /// The bytes of a file; nil if there is none that counts.
  @concurrent
  public func read(_ name: String) async -> [UInt8]? {
    guard let directory = openDirectory() else { return nil }
    defer { close(directory) }
    let descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, Self.isWanted(info) else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= Self.maximumByteCount else { return nil }
    }
  }

  @concurrent
  public func remove(_ name: String) async {
    guard let directory = openDirectory() else { return }
    unlinkat(directory, name, 0)
    close(directory)
  }

  private func openDirectory() -> Int32? {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY)
    return descriptor < 0 ? nil : descriptor
  }

  private static func isWanted(_ name: String, in directory: Int32) -> Bool {
    var info = stat()
    return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && isWanted(info)
  }

  private static func isWanted(_ info: stat) -> Bool {
    info.st_mode & S_IFMT == S_IFREG && info.st_size <= off_t(maximumByteCount)
  }
}
