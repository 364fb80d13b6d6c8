import Foundation
import Store
import Synchronization
import TestSupport
import Testing

/// What a file has besides its content: a mark, by which the same content is not read again, and a mode.
struct WorkingFilesMarkTests {
  @Test(arguments: [0o600, 0o640, 0o755]) func aFileThatIsReplacedKeepsItsMode(mode: Int) async throws {
    let directory = try TemporaryDirectory(), files = WorkingFiles(), path = directory.file("note.md")
    #expect(try await files.create(path, Array("one".utf8)))
    #expect(chmod(path, mode_t(mode)) == 0)
    #expect(try await files.replace(path, Array("two".utf8), of: Array("one".utf8)) == nil)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
    #expect(try await files.read(path) == Array("two".utf8))
  }

  /// Another program writes into the file while it is read.
  @Test func theMarkOfAFileIsThatOfTheBytesThatWereRead() async throws {
    let directory = try TemporaryDirectory(), path = directory.file("long.md")
    try Data(repeating: UInt8(ascii: "a"), count: 100 << 20).write(to: URL(fileURLWithPath: path))
    // So long ago that the next change has another time however coarse the clock of the file system is.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    let isRead = Mutex(false)
    let files = WorkingFiles()
    async let change: Void = Self.changeFirstByte(of: path, unless: { isRead.withLock { $0 } })
    let sight = try await files.look(path, since: nil)
    isRead.withLock { $0 = true }
    try await change
    guard case .found(let bytes, let mark) = sight else { return #expect(sight == .missing) }
    // The change may have come after the last reading; then the mark is out of date, as it should be.
    guard try await files.look(path, since: mark) == .unchanged else { return }
    #expect(bytes.first == UInt8(ascii: "b"))
  }

  /// Waits until another thread has read some of the file, and changes the first byte then.
  @concurrent
  private static func changeFirstByte(of path: String, unless isRead: @Sendable () -> Bool) async throws {
    while !isRead(), try !isBeingRead(path) { await Task.yield() }
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.write(contentsOf: Data("b".utf8))
    try file.close()
  }

  private static func isBeingRead(_ path: String) throws -> Bool {
    guard let reader = try? descriptor(of: path),
      let state = try? String(contentsOfFile: "/proc/self/fdinfo/\(reader)", encoding: .utf8),
      let place = state.split(separator: "\n").first?.split(separator: "\t").last.flatMap({ Int($0) })
    else { return false }
    return place > 1 << 16
  }
}
