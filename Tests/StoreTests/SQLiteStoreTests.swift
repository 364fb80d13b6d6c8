import AutomergeRepo
import AutomergeRepoConformance
import FileStorage
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import SQLiteStorage

struct SQLiteStoreTests {
  @Test(arguments: [FileSystemKind.local, .network])
  func aDatabaseConforms(kind: FileSystemKind) async throws {
    let directory = try TemporaryDirectory()
    let folder = URL(fileURLWithPath: directory.path)
    try await StorageConformance(promising: .atomicCommits, isForOneProcess: kind == .network) { place in
      try await SQLiteStore.open(directory: folder.appendingPathComponent(place), fileSystem: kind)
    }.run()
    withExtendedLifetime(directory) {}
  }

  @Test func processesThatWriteAtTheSameTimeConform() async throws {
    let fixture = try StoreFixture()
    let writer = try #require(StoreFixture.writer)
    let names = ["one", "two", "three"]
    let writers = try names.map { name in
      try ChildProcess([writer, fixture.home, name, "conformance"])
    }
    for writer in writers { #expect(try writer.waitForExit() == .code(0)) }
    try await StorageConformance.checkWritten(by: names, in: try await fixture.open())
  }

  @Test func whatIsSavedOutlivesTheStore() async throws {
    let fixture = try StoreFixture()
    try await fixture.open().save(["a", "b"], Data([1, 2]))
    #expect(try await fixture.open().load(["a", "b"]) == Data([1, 2]))
  }

  @Test func aURLThatNamesNoFileIsATypedError() async throws {
    let url = try #require(URL(string: "https://example.org/a/folder"))
    await #expect(throws: StorageError.failed(operation: "open \(url)", code: EINVAL)) {
      _ = try await SQLiteStore.open(directory: url)
    }
  }

  @Test func onlyTheOwnerMayRead() async throws {
    let fixture = try StoreFixture()
    try await fixture.open().save(["a"], Data([1]))
    for name in try fixture.names() {
      let path = fixture.home + "/" + name
      let mode = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(name) has mode \(String(mode, radix: 8))")
    }
    #expect(try FileManager.default.attributesOfItem(atPath: fixture.home)[.posixPermissions] as? Int == 0o700)
  }

  @Test func aCommitIsAllOrNothing() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    try await store.save(["kept"], Data([1]))
    let tooLong = [String(repeating: "n", count: 5000)]
    await #expect(throws: StorageError.invalidKey(tooLong)) {
      try await store.commit([
        .save(StoredItem(key: ["a"], data: Data([1]))), .remove(["kept"]),
        .save(StoredItem(key: tooLong, data: Data([1]))),
      ])
    }
    #expect(try await store.loadRange([]).map(\.key) == [["kept"]])
    try await store.commit([
      .save(StoredItem(key: ["a"], data: Data([1]))), .remove(["kept"]), .save(StoredItem(key: ["a"], data: Data([2]))),
    ])
    #expect(try await store.loadRange([]) == [StoredItem(key: ["a"], data: Data([2]))])
  }

  @Test func twoThatUpdateFieldsOfOneRecordKeepEachOthers() async throws {
    let fixture = try StoreFixture()
    let start = Data(CBOR.record(["a": .integer(0), "b": .integer(0)]).encoded())
    try await fixture.open().save(["record"], start)
    @Sendable func count(_ name: String, in store: SQLiteStore) async throws {
      let known = SharedRecord(start)
      for number in 1...50 {
        // The other's field is as old in this memory as at the start.
        let fields = ["a", "b"].map { CBOR.Entry(.text($0), .integer($0 == name ? number : 0)) }
        let item = StoredItem(key: ["record"], data: Data(CBOR.map(fields).encoded()))
        try await store.commit([.update(item, of: known)])
      }
    }
    let stores = (try await fixture.open(), try await fixture.open())
    async let one: Void = count("a", in: stores.0)
    async let other: Void = count("b", in: stores.1)
    _ = try await (one, other)
    let record = try #require(try await fixture.open().record(at: ["record"]))
    #expect(record["a"] == .integer(50) && record["b"] == .integer(50))
  }

  @Test func commitsThatWaitTogetherAreFewTransactions() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    let before = try fixture.bytes("-wal").count
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask { try await store.save(["d", "\(number)"], Data([UInt8(number)])) }
      }
      try await group.waitForAll()
    }
    #expect(try await store.loadRange(["d"]).count == 200)
    // Alone, each needs at least two pages of the log: one of the table, one of its index.
    let frames = (try fixture.bytes("-wal").count - before) / (4096 + 24)
    #expect(frames < 200)
  }

  @Test func whatWaitsForALockedStoreIsLimited() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    let (entered, enter) = AsyncStream<Void>.makeStream()
    let unlock = DispatchSemaphore(value: 0)
    async let locked: Void = store.run { _ in
      enter.yield()
      unlock.wait()
    }
    for await _ in entered { break }
    let excess = 3
    try await withThrowingTaskGroup(of: StorageError?.self) { group in
      for number in 0..<SQLiteStore.maximumCommits + excess {
        group.addTask {
          do throws(StorageError) { try await store.save(["d", "\(number)"], Data()) } catch { return error }
          return nil
        }
      }
      // The others wait for the lock.
      for _ in 0..<excess { #expect(try await group.next() == .busy) }
      unlock.signal()
      for try await error in group { #expect(error == nil) }
    }
    try await locked
    #expect(try await store.children(of: ["d"]).count == SQLiteStore.maximumCommits)
    try await store.save(["d", "later"], Data())
  }

  @Test func twoStoresSeeWhatTheOtherWrites() async throws {
    let fixture = try StoreFixture()
    let (one, two) = (try await fixture.open(), try await fixture.open())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, store) in [("one", one), ("two", two)] {
        group.addTask {
          for number in 0..<50 { try await store.save(["d", "\(name)-\(number)"], Data([UInt8(number)])) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await one.loadRange(["d"]).count == 100)
    #expect(try await two.children(of: ["d"]).count == 100)
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func aStoreOnANetworkFileSystemIsForOneProcessAtATime()
    async throws
  {
    let fixture = try StoreFixture()
    let one = try await fixture.open(.network)
    try await one.save(["a"], Data([1]))
    #expect(try !fixture.names().contains("notes.db-wal"))
    await #expect(throws: StorageError.busy) { try await fixture.open(.network) }
    #expect(try await one.load(["a"]) == Data([1]))
  }

  @Test(arguments: [
    ("/home", FileSystemKind.local), ("/mnt/nas", .network), ("/mnt/nas/deep/er", .network), ("/mnt/nasty", .local),
    ("/mnt/a b/c", .network), ("/mnt/nas/local/x", .local),
  ])
  func theKindOfFileSystemIsThatOfTheNearestMount(path: String, kind: FileSystemKind) {
    let mounts = """
      21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      40 21 0:40 / /mnt/nas rw shared:2 master:1 - nfs4 server:/x rw
      41 21 0:41 / /mnt/a\\040b rw - fuse.sshfs host: rw
      42 40 8:2 / /mnt/nas/local rw - xfs /dev/sdb rw
      nonsense
      """
    #expect(FileSystemKind(of: path, mounts: mounts) == kind)
  }

  @Test func filesOfAnEarlierVersionAreTakenOver() async throws {
    let fixture = try StoreFixture()
    let files = try FileStore(directory: URL(fileURLWithPath: fixture.home + "/store"))
    let keys = [["identity"], ["notes", "x"], ["doc", "snapshot", "../y"], ["doc", "incremental", "ä"], ["", "e"]]
    for (index, key) in keys.enumerated() { try await files.save(key, Data([UInt8(index)])) }
    let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try await files.save(["large"], large)
    let store = try await fixture.open()
    for (index, key) in keys.enumerated() { #expect(try await store.load(key) == Data([UInt8(index)])) }
    #expect(try await store.load(["large"]) == large)
    #expect(try await store.loadRange([]).count == keys.count + 1)
    #expect(try !fixture.names().contains("store"))
    // The files are still there, and what the database has since is not replaced by older ones.
    try await store.save(["identity"], Data([9]))
    try FileManager.default.copyItem(
      atPath: fixture.home + "/store-before-database", toPath: fixture.home + "/store")
    let again = try await fixture.open()
    #expect(try await again.load(["identity"]) == Data([9]))
    #expect(try fixture.names().isSuperset(of: ["store-before-database", "store-before-database-2"]))
  }
}
