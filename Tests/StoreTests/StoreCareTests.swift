import AutomergeRepo
import Foundation
import Testing

@testable import SQLiteStorage

struct StoreCareTests {
  @Test func aSoundStoreHasNoProblems() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    for number in 0..<500 { try await store.save(["d", "\(number)"], Data([1])) }
    let report = try await store.check()
    #expect(report.isSound)
    #expect(report.itemCount == 500)
  }

  @Test func whatIsDamagedIsNamedAndPutAside() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    for number in 0..<4 { try await store.save(["d", "\(number)"], Data([1])) }
    let wrongName = ["doc", "incremental", String(repeating: "ab", count: 32)]
    try await store.save(wrongName, Data([1]))
    try fixture.execute("UPDATE item SET bytes = x'02' WHERE key = 'd/1/'")
    try fixture.execute("UPDATE item SET sha256 = 1 WHERE key = 'd/2/'")
    let expected: Set = ["d/1/", "d/2/", StorageKeyText.prefix(wrongName)]
    let report = try await store.check()
    #expect(report.damagedKeys.contains("d/1/"))
    #expect(report.damagedKeys.count == expected.count)
    #expect(try await store.check(repairing: true).damagedKeys.count == 3)
    let after = try await store.check()
    #expect(after.isSound)
    #expect(after.asideCount == 3)
    #expect(after.itemCount == 2)
  }

  @Test func aDamagedFileIsRebuilt() async throws {
    let fixture = try StoreFixture()
    do {
      let store = try await fixture.open()
      for number in 0..<300 { try await store.save(["d", "\(number)"], Data(repeating: 1, count: 400)) }
    }
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    // The index says something else than the table.
    var bytes = try fixture.bytes()
    let key = Data("d/150/".utf8)
    let place = try #require(bytes.range(of: key)).lowerBound
    bytes[place] = UInt8(ascii: "e")
    try fixture.write(bytes)
    for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.database + ending) }
    let store = try await fixture.open()
    #expect(try await !store.check().fileProblems.isEmpty)
    _ = try await store.check(repairing: true)
    #expect(try await store.check().isSound)
    #expect(try await store.loadRange([]).count == 300)
    #expect(try fixture.names().contains { $0.hasPrefix("damaged-") })
  }

  @Test func aBackupIsAStore() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    for number in 0..<300 { try await store.save(["d", "\(number)"], Data(repeating: 2, count: 400)) }
    let home = try fixture.directory.directory("restored")
    try await store.backup(to: home + "/notes.db")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home) == ["notes.db"])
    let restored = try await SQLiteStore.open(directory: URL(fileURLWithPath: home))
    #expect(Set(try await restored.loadRange([])) == Set(try await store.loadRange([])))
  }

  @Test func aBackupReplacesNothingUnasked() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    try await store.save(["a"], Data([1]))
    let path = fixture.directory.file("backup")
    try Data([7]).write(to: URL(fileURLWithPath: path))
    await #expect(throws: StorageError.failed(operation: "backup to \(path)", code: EEXIST)) {
      try await store.backup(to: path)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([7]))
    try await store.backup(to: path, replacing: true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count > 4096)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).sorted() == ["backup", "home"])
  }
}
