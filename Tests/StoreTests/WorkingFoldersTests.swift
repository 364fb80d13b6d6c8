import Foundation
import Store
import TestSupport
import Testing

/// A folder of notes gets another name.
struct WorkingFoldersTests {
  @Test func aFolderThatIsNotThereIsNotMadeByMovingIt() async throws {
    let directory = try TemporaryDirectory(), files = WorkingFiles()
    #expect(try await files.moveFolder(directory.file("none"), to: directory.file("new")))
    #expect(try await files.names(in: directory.path) == [])
  }

  @Test func whatCannotBeMovedIsSaidAndStaysWhereItIs() async throws {
    let directory = try TemporaryDirectory(), files = WorkingFiles()
    let path = directory.file("note.md")
    #expect(try await files.create(path, Array("words".utf8)))
    await #expect(throws: WorkingFiles.Failure.system(path: path, operation: "rename", code: EISDIR)) {
      try await files.moveFolder(path, to: directory.file("new"))
    }
    #expect(try await files.names(in: directory.path) == ["note.md"])
    #expect(try await files.read(path) == Array("words".utf8))
  }

  @Test func aFolderIsMovedWithItsNotesUnlessTheNameIsTaken() async throws {
    let directory = try TemporaryDirectory(), files = WorkingFiles()
    let (one, other) = (directory.file("one"), directory.file("other"))
    #expect(try await files.create(one + "/a.md", Array("a".utf8)))
    #expect(try await files.create(other + "/b.md", Array("b".utf8)))
    #expect(try await files.moveFolder(one, to: other) == false)
    #expect(try await files.names(in: one) == ["a.md"])
    #expect(try await files.moveFolder(one, to: directory.file("new")))
    #expect(try await files.names(in: one) == nil)
    #expect(try await files.names(in: directory.file("new")) == ["a.md"])
  }
}
