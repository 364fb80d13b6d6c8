import AutomergeRepo
import FileStorage
import Foundation
import TestSupport
import Testing

struct StorageTests {
  @Test func filesOutliveTheStoreAndStayInside() async throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.file("deep/er/store"))
    try await FileStore(directory: root).save(["..", "../../escape"], Data([1]))
    #expect(try await FileStore(directory: root).load(["..", "../../escape"]) == Data([1]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["deep"])
    let mode = try FileManager.default.attributesOfItem(atPath: root.path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
  }

  @Test func halfWrittenFilesAreNoKeys() async throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.file("s"))
    let store = try FileStore(directory: root)
    try await store.save(["a"], Data([1]))
    // Of a process that cannot be alive.
    let abandoned = root.appendingPathComponent(".writing/999999999-1")
    try Data([9]).write(to: abandoned)
    #expect(try await store.loadRange([]).map(\.key) == [["a"]])
    #expect(try await store.children(of: []) == ["a"])
    _ = try FileStore(directory: root)
    #expect(!FileManager.default.fileExists(atPath: abandoned.path))
  }

  @Test func foreignFilesAreLeftAlone() async throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.file("s"))
    let store = try FileStore(directory: root)
    try Data([9]).write(to: root.appendingPathComponent("README.txt"))
    try Data([9]).write(to: root.appendingPathComponent("%zz.bin"))
    #expect(try await store.loadRange([]).isEmpty)
  }

  @Test func aNameThatIsTooLongIsATypedError() async throws {
    let directory = try TemporaryDirectory()
    let store = try FileStore(directory: URL(fileURLWithPath: directory.file("s")))
    let key = [String(repeating: "n", count: 1000)]
    await #expect(throws: StorageError.invalidKey(key)) { try await store.save(key, Data()) }
  }

  /// A refused read is described by the same words as a refused write, and a full queue by those of a locked file.
  @Test func aKeyOfTooManyNamesIsATypedError() async throws {
    let directory = try TemporaryDirectory()
    let store = try FileStore(directory: URL(fileURLWithPath: directory.file("s")))
    let key = Array(repeating: "name", count: 5000)
    await #expect(throws: StorageError.invalidKey(key)) { try await store.save(key, Data([1])) }
    await #expect(throws: StorageError.invalidKey(key)) { try await store.load(key) }
    #expect(try await store.children(of: []).isEmpty)
  }

  @Test func aURLThatNamesNoFileIsATypedError() throws {
    let url = try #require(URL(string: "https://example.org/a/folder"))
    #expect(throws: StorageError.failed(operation: "open \(url)", code: EINVAL)) { try FileStore(directory: url) }
  }

  @Test func theWordsForARefusalFitEveryRefusal() {
    #expect(StorageError.notPermitted.description == "no permission to read or write it")
    #expect(StorageError.busy.description == "it has been busy for too long; try again later")
  }

  @Test func aDirectoryThatCannotBeMadeIsATypedError() throws {
    let directory = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: directory.file("file")))
    #expect(throws: StorageError.self) { try FileStore(directory: URL(fileURLWithPath: directory.file("file/below"))) }
  }

  @Test func twoStoresOnOneDirectoryDoNotHurtEachOther() async throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.file("s"))
    let stores = [try FileStore(directory: root), try FileStore(directory: root)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask {
          for number in 0..<20 {
            try await store.save(["d", "\(number)"], Data([UInt8(number)]))
            try await store.remove(["d", "\(number)"])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await stores[0].loadRange([]).isEmpty)
  }

  @Test func recordsAreCBOR() async throws {
    let store = InMemoryStorage()
    try await store.saveRecord(.record(["title": "Soup"]), at: ["notes", "1"])
    try await store.save(["notes", "2"], Data([0xff]))
    #expect(try await store.record(at: ["notes", "1"])?["title"]?.text == "Soup")
    #expect(try await store.record(at: ["notes", "3"]) == nil)
    await #expect(throws: StorageError.damaged(["notes", "2"])) { try await store.record(at: ["notes", "2"]) }
    #expect(try await store.records(under: ["notes"]).count == 1)
  }
}
