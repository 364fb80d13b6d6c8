import Foundation
import Store
import TestSupport
import Testing

struct UnsentFilesTests {
  @Test func onlyRegularFilesOfLimitedSizeCount() async throws {
    let home = try TemporaryDirectory()
    let files = UnsentFiles(home: home.path), folder = home.path + "/unsent"
    #expect(await files.names() == [])
    try FileManager.default.createDirectory(atPath: folder + "/folder.json", withIntermediateDirectories: true)
    for name in ["b.json", "a.json", "draft.json~", ".hidden.json", "other"] {
      try Data(name.utf8).write(to: URL(filePath: folder + "/" + name))
    }
    try FileManager.default.createSymbolicLink(atPath: folder + "/link.json", withDestinationPath: folder + "/other")
    #expect(mkfifo(folder + "/pipe.json", 0o600) == 0)
    try Data("x".utf8).write(to: URL(filePath: folder + "/large.json"))
    #expect(truncate(folder + "/large.json", off_t(UnsentFiles.maximumByteCount) + 1) == 0)
    #expect(await files.names() == ["a.json", "b.json"])
    #expect(await files.read("a.json") == Array("a.json".utf8))
    for name in ["link.json", "pipe.json", "folder.json", "large.json", "none.json"] {
      #expect(await files.read(name) == nil, "\(name)")
    }
    await files.remove("a.json")
    #expect(await files.names() == ["b.json"])
  }

  @Test func aLimitedNumberCounts() async throws {
    let home = try TemporaryDirectory()
    let folder = try home.directory("unsent")
    for number in 0..<UnsentFiles.maximumCount + 10 {
      try Data().write(to: URL(filePath: folder + "/\(number).json"))
    }
    #expect(await UnsentFiles(home: home.path).names().count == UnsentFiles.maximumCount)
  }

  @Test func aFolderThatIsALinkIsNotRead() async throws {
    let home = try TemporaryDirectory()
    let other = try home.directory("other")
    try Data("x".utf8).write(to: URL(filePath: other + "/a.json"))
    try FileManager.default.createSymbolicLink(atPath: home.path + "/unsent", withDestinationPath: other)
    let files = UnsentFiles(home: home.path)
    #expect(await files.names() == [])
    #expect(await files.read("a.json") == nil)
  }
}
