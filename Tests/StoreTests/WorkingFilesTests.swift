import Foundation
import Store
import Testing

struct WorkingFilesTests {
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

  /// An editor, or the next process after a kill, may look at any moment.
  @Test func aNewFileIsThereAsAWhole() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = WorkingFiles(), bytes = [UInt8](repeating: 0x61, count: 4 << 20)
    for number in 0..<4 {
      let path = folder + "/\(number).md"
      async let isMade = files.create(path, bytes)
      var count: Int?
      while count == nil { count = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int }
      #expect(count == bytes.count)
      #expect(try await isMade)
    }
  }

  /// Another user can write to the notes directory, as to a shared one, and puts a link to one of the person's files or folders there.
  @Test(arguments: [true, false]) func nothingIsMadeOrReplacedThroughALinkThatThePersonDidNotMake(isThere: Bool)
    async throws
  {
    let place = try LinkedPlace(isThere: isThere)
    defer { place.remove() }
    let files = WorkingFiles()
    #expect(try await files.create(place.link, Array("note".utf8)) == false)
    #expect(try await files.put(place.link, Array("note".utf8), replacing: false) == false)
    #expect(try await files.create(place.folder + "/a.md", Array("note".utf8)))
    #expect(try await files.move(place.folder + "/a.md", to: place.link) == false)
    #expect(try await files.moveFolder(place.folder + "/sub", to: place.link) == false)
    #expect(place.outside == (isThere ? "secret" : nil))
    // A copy takes the place of the link, and a removed note removes the link only.
    #expect(try await files.put(place.link, Array("copy".utf8), replacing: true))
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: place.link)) == nil)
    #expect(place.outside == (isThere ? "secret" : nil))
    try place.makeLink()
    try await files.remove(place.link)
    #expect(place.outside == (isThere ? "secret" : nil))
  }

  /// Another program has put it there since the caller looked.
  @Test(arguments: [true, false]) func aFileThatCannotBeReadIsNotReplaced(isExpected: Bool) async throws {
    let place = try LinkedPlace(isThere: true)
    defer { place.remove() }
    let files = WorkingFiles(), expected = isExpected ? Array("one".utf8) : nil
    let large = place.folder + "/large.md", pipe = place.folder + "/pipe.md"
    #expect(FileManager.default.createFile(atPath: large, contents: Data("words".utf8)))
    let byteCount = WorkingFiles.maximumByteCount + 1
    #expect(truncate(large, byteCount) == 0)
    #expect(mkfifo(pipe, 0o600) == 0)
    for (path, failure) in [
      (large, WorkingFiles.Failure.tooLarge(path: large, byteCount: byteCount)), (pipe, .notAFile(path: pipe)),
    ] {
      await #expect(throws: failure) { try await files.replace(path, Array("two".utf8), of: expected) }
      await #expect(throws: failure) { try await files.remove(path, of: Array("one".utf8)) }
    }
    #expect(try FileManager.default.attributesOfItem(atPath: large)[.size] as? Int == byteCount)
    #expect(try FileHandle(forReadingFrom: URL(filePath: large)).read(upToCount: 5) == Data("words".utf8))
    #expect(try await files.names(in: place.folder)?.sorted() == ["Shopping.md", "large.md", "pipe.md", "sub"])
  }

  @Test func whereNoFolderIsThereAreNoNames() async throws {
    let place = try LinkedPlace(isThere: true)
    defer { place.remove() }
    let files = WorkingFiles(), path = place.folder + "/a.md",
      long = place.folder + "/" + String(repeating: "a", count: 300)
    #expect(try await files.create(path, []))
    #expect(try await files.names(in: place.folder + "/none") == nil)
    #expect(try await files.names(in: path) == nil, "it is a file")
    await #expect(throws: WorkingFiles.Failure.system(path: long, operation: "opendir", code: ENAMETOOLONG)) {
      try await files.names(in: long)
    }
  }

  /// Another program has written the file since the caller read it.
  @Test func aFileIsRemovedOnlyIfItHasTheExpectedContent() async throws {
    let place = try LinkedPlace(isThere: true)
    defer { place.remove() }
    let files = WorkingFiles(), path = place.folder + "/a.md"
    #expect(try await files.create(path, Array("two".utf8)))
    #expect(try await files.remove(path, of: Array("one".utf8)) == Array("two".utf8))
    #expect(try await files.read(path) == Array("two".utf8))
    #expect(
      try await files.names(in: place.folder)?.sorted() == ["Shopping.md", "a.md", "sub"], "nothing stays beside it")
    #expect(try await files.remove(path, of: Array("two".utf8)) == nil)
    #expect(try await files.remove(path, of: Array("two".utf8)) == nil, "there is none")
    // Of a link, only the link goes.
    #expect(try await files.remove(place.link, of: Array("none".utf8)) == Array("secret".utf8))
    #expect(try await files.remove(place.link, of: Array("secret".utf8)) == nil)
    #expect(place.outside == "secret")
    #expect(try await files.names(in: place.folder) == ["sub"])
  }

  /// The person keeps the file elsewhere, and has put a link in its place.
  @Test func aNoteGoesOnBehindALinkInPlaceOfItsFile() async throws {
    let place = try LinkedPlace(isThere: true)
    defer { place.remove() }
    let files = WorkingFiles()
    #expect(try await files.read(place.link) == Array("secret".utf8))
    #expect(try await files.replace(place.link, Array("more".utf8), of: Array("secret".utf8)) == nil)
    #expect(place.outside == "more")
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: place.link)) == place.target)
  }

  /// A file that is not a regular one is not read, and blocks no thread.
  @Test(arguments: ["/dev/zero", "/dev/tty", "/"]) func aLinkToSomethingElseIsNotRead(target: String) async throws {
    let place = try LinkedPlace(isThere: false, target: target)
    defer { place.remove() }
    await #expect(throws: WorkingFiles.Failure.self) { try await WorkingFiles().read(place.link) }
  }
}

/// A notes directory with a symbolic link to a place outside.
private struct LinkedPlace {
  let folder: String
  let target: String
  private let root: String
  var link: String { folder + "/Shopping.md" }

  /// - Parameter isThere: whether there is a file at the target
  init(isThere: Bool, target: String? = nil) throws {
    root = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())").path
    (folder, self.target) = (root + "/notes", target ?? root + "/outside/secret")
    for name in ["notes/sub", "outside"] {
      try FileManager.default.createDirectory(atPath: root + "/" + name, withIntermediateDirectories: true)
    }
    if isThere { try "secret".write(toFile: self.target, atomically: false, encoding: .utf8) }
    try makeLink()
  }

  func makeLink() throws {
    try? FileManager.default.removeItem(atPath: link)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
  }

  var outside: String? { try? String(contentsOfFile: target, encoding: .utf8) }

  func remove() { try? FileManager.default.removeItem(atPath: root) }
}
