import Foundation
import Store
import Testing

@Suite struct WorkingFilesTests {
  /// A peer chooses titles, and so names that are as long as a file system allows.
  @Test(arguments: ["x", "é", "漢"]) func aFileWithTheLongestNameIsReplaced(letter: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = WorkingFiles()
    for length in [200, 230, 253, 254, 255] {
      let stem = String(repeating: letter, count: (length - 3) / letter.utf8.count)
      let path = folder + "/" + stem + String(repeating: "y", count: length - 3 - stem.utf8.count) + ".md"
      #expect(try await files.create(path, Array("one".utf8)))
      #expect(try await files.replace(path, Array("two".utf8), of: Array("one".utf8)) == nil)
      #expect(try await files.put(path, Array("three".utf8), replacing: true))
      #expect(try await files.read(path) == Array("three".utf8))
      #expect(try await files.names(in: folder) == [(path as NSString).lastPathComponent], "nothing else is left")
      try await files.remove(path)
    }
  }
}
