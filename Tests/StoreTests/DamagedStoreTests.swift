import Automerge
import AutomergeRepo
import Foundation
import GRDB
import SQLiteStorage
import Synchronization
import TestSupport
import Testing

/// What a store does about a file that is not what it should be.
struct DamagedStoreTests {
  private func filled(_ count: Int) async throws -> StoreFixture {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    try await store.commit(
      (0..<count).map { number in
        let data = Data(repeating: UInt8(truncatingIfNeeded: number), count: 500)
        return .save(StoredItem(key: ["d", "\(number)"], data: data))
      })
    return fixture
  }

  @Test func aLaterVersionIsRefusedAndNotTouched() async throws {
    let fixture = try await filled(3)
    try fixture.execute("PRAGMA user_version = 2")
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let before = try fixture.bytes()
    await #expect(throws: StorageError.newerVersion(found: 2, known: 1)) { try await fixture.open() }
    #expect(try fixture.bytes() == before)
  }

  @Test func theDatabaseOfAnotherProgramIsRefused() async throws {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(atPath: fixture.home, withIntermediateDirectories: true)
    try fixture.execute("CREATE TABLE theirs (x)")
    await #expect(throws: StorageError.foreign) { try await fixture.open() }
    #expect(try fixture.count("theirs") == 0)
  }

  @Test func anEmptyFileIsSetAsideAndSaid() async throws {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(atPath: fixture.home, withIntermediateDirectories: true)
    try fixture.write(Data())
    let log = Data("words that are only in the log".utf8)
    try log.write(to: URL(fileURLWithPath: fixture.database + "-wal"))
    let store = try await fixture.open()
    try await store.save(["a"], Data([1]))
    #expect(try await store.load(["a"]) == Data([1]))
    let aside = try #require(try setAside(by: store).first)
    #expect(aside.cause == .empty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside.folder + "/notes.db")).isEmpty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside.folder + "/notes.db-wal")) == log)
  }

  @Test func aNewStoreIsNoEmptyFileToTheNextProcess() async throws {
    let fixture = try StoreFixture()
    let (first, second) = (try await fixture.open(), try await fixture.open())
    #expect(try setAside(by: first).isEmpty && setAside(by: second).isEmpty)
    #expect(try fixture.names().allSatisfy { !$0.hasPrefix("damaged-") })
  }

  private func setAside(by store: SQLiteStore) throws -> [StoreSetAside] {
    let all = Mutex<[StoreSetAside]>([])
    store.onSetAside { news in all.withLock { $0.append(news) } }
    return all.withLock { $0 }
  }

  @Test func rubbishIsPutAsideAndAnewStoreBegun() async throws {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(atPath: fixture.home, withIntermediateDirectories: true)
    let rubbish = Data("not a database at all, but quite long enough to look at".utf8) + Data(count: 9000)
    try fixture.write(rubbish)
    let store = try await fixture.open()
    #expect(try await store.loadRange([]).isEmpty)
    try await store.save(["a"], Data([1]))
    let aside = try #require(try fixture.names().first { $0.hasPrefix("damaged-") })
    #expect(try setAside(by: store) == [StoreSetAside(cause: .damaged, folder: fixture.home + "/" + aside)])
    #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.home + "/\(aside)/notes.db")) == rubbish)
  }

  @Test(arguments: [Data(), Data("no database".utf8) + Data(count: 9000)])
  func aStoreThatMayNotBeRebuiltStaysAsItIs(bytes: Data) async throws {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(atPath: fixture.home, withIntermediateDirectories: true)
    try fixture.write(bytes)
    let error = await #expect(throws: StorageError.self) { try await fixture.open(rebuilding: false) }
    #expect(error?.fileDamage?.isEmpty == false)
    #expect(try fixture.bytes() == bytes)
    #expect(try fixture.names().allSatisfy { !$0.hasPrefix("damaged-") })
  }

  @Test func damageThatIsFoundLaterIsNotRepairedUnasked() async throws {
    let fixture = try await filled(400)
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    var bytes = try fixture.bytes()
    for offset in 4096 * 3..<bytes.count { bytes[offset] = 0xAA }
    try fixture.write(bytes)
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.database + ending) }
    let store = try await fixture.open(rebuilding: false)
    let error = await #expect(throws: StorageError.self) { try await store.loadRange([]) }
    #expect(error?.fileDamage != nil)
    #expect(store.lossCount == 0)
    #expect(try fixture.bytes() == bytes)
    #expect(try fixture.names().allSatisfy { !$0.hasPrefix("damaged-") })
  }

  @Test func aFlippedBitInARecordIsNoticed() async throws {
    let fixture = try await filled(3)
    try fixture.execute("UPDATE item SET bytes = zeroblob(500) WHERE key = 'd/1/'")
    let store = try await fixture.open()
    await #expect(throws: StorageError.damaged(["d", "1"])) { try await store.load(["d", "1"]) }
    #expect(try await store.loadRange(["d"]).map(\.key).sorted { $0[1] < $1[1] } == [["d", "0"], ["d", "2"]])
    try await store.save(["d", "1"], Data([7]))
    #expect(try await store.load(["d", "1"]) == Data([7]))
  }

  @Test func columnsOfOtherTypesAreNoTrap() async throws {
    let fixture = try await filled(4)
    try fixture.execute("UPDATE item SET bytes = 'text' WHERE key = 'd/1/'")
    try fixture.execute("UPDATE item SET sha256 = 17 WHERE key = 'd/2/'")
    try fixture.execute("INSERT INTO item (key, sha256, bytes) VALUES (x'ff00', 1.5, 2), ('d/%zz/', 1, 2)")
    let store = try await fixture.open()
    #expect(try await store.loadRange(["d"]).count == 2)
    #expect(try await store.children(of: ["d"]).count == 4)
    await #expect(throws: StorageError.damaged(["d", "1"])) { try await store.load(["d", "1"]) }
  }

  @Test func aForgedChunkMakesWayForTheTrueOne() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    let item = StoredItem(key: ["doc", "incremental", String(repeating: "ab", count: 32)], data: Data([1, 2, 3]))
    try await store.save(item.key, item.data)
    #expect(try await store.loadRange(["doc"]) == [item])
    try await store.setAside(StoredItem(key: item.key, data: Data([9])))
    #expect(try await store.loadRange(["doc"]) == [item], "something else lies there")
    try await store.setAside(item)
    #expect(try await store.loadRange(["doc"]).isEmpty)
    #expect(try fixture.count("damaged") == 1)
  }

  @Test(arguments: SeedCount.part(of: 0..<24 as Range<UInt64>))
  func aDamagedPageCostsWhatWasOnIt(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let count = 400
    let fixture = try await filled(count)
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    var bytes = try fixture.bytes()
    // Not the first page: what is lost with it is another test's.
    let page = Int.random(in: 1..<bytes.count / 4096, using: &random)
    let isZeroed = Bool.random(using: &random)
    for offset in page * 4096..<(page + 1) * 4096 {
      bytes[offset] = isZeroed ? 0 : UInt8.random(in: 0...255, using: &random)
    }
    try fixture.write(bytes)
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.database + ending) }
    let store = try await fixture.open()
    let found = try await store.loadRange([])
    for item in found {
      let number = try #require(Int(item.key[1]))
      #expect(item.data == Data(repeating: UInt8(truncatingIfNeeded: number), count: 500), "seed \(seed)")
    }
    for number in 0..<count { try await store.save(["d", "\(number)"], Data([1])) }
    #expect(try await store.loadRange(["d"]).count == count, "seed \(seed): all can be stored anew")
    // A page of the table holds seven rows, one of those that lead to them hundreds.
    #expect(found.count >= count - 8 || store.lossCount == 1, "seed \(seed): \(found.count) found")
  }

  @Test func aStoreThatIsRemovedWhileOpenIsWrittenAnew() async throws {
    let fixture = try await filled(20)
    let store = try await fixture.open()
    #expect(try await store.loadRange([]).count == 20)
    for name in try fixture.names() { try FileManager.default.removeItem(atPath: fixture.home + "/" + name) }
    try await store.save(["new"], Data([1]))
    #expect(store.lossCount == 1)
    #expect(try await fixture.open().loadRange([]).count == 21)
  }

  @Test func anOldBackupThatIsPutInPlaceGetsWhatItLacks() async throws {
    let fixture = try await filled(5)
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let backup = try fixture.bytes()
    let store = try await fixture.open()
    try await store.save(["later"], Data([1]))
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.database + ending) }
    try fixture.write(backup)
    try await store.save(["last"], Data([2]))
    #expect(try await fixture.open().loadRange([]).count == 7)
    #expect(store.lossCount == 1)
  }

  @Test func aStoreWhoseDirectoryIsGoneSaysSoAndResumes() async throws {
    let fixture = try await filled(2)
    let store = try await fixture.open()
    let elsewhere = fixture.directory.file("elsewhere")
    try FileManager.default.moveItem(atPath: fixture.home, toPath: elsewhere)
    await #expect(throws: StorageError.self) { try await store.save(["a"], Data([1])) }
    try FileManager.default.moveItem(atPath: elsewhere, toPath: fixture.home)
    try await store.save(["a"], Data([1]))
    #expect(try await fixture.open().loadRange([]).count == 3)
  }
}
