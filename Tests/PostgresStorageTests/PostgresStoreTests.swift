import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import PostgresStorage
import TestSupport
import Testing

/// What a store does with a database that is not what it should be, and what other processes do to it.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct PostgresStoreTests {}

extension PostgresStoreTests {
  // MARK: The schema

  @Test func aLaterVersionIsRefusedAndNotTouched() async throws {
    let fixture = try StoreAtServer()
    try await fixture.open().save(["a"], Data([1]))
    try fixture.run("UPDATE notes_lsp.version SET number = 2")
    await #expect(throws: StorageError.newerVersion(found: 2, known: 1)) { try await fixture.open() }
    #expect(try fixture.run("SELECT number FROM notes_lsp.version") == "2")
    #expect(try fixture.run("SELECT count(*) FROM notes_lsp.record") == "1")
  }

  @Test func aSchemaOfAnotherProgramIsRefused() async throws {
    let fixture = try StoreAtServer()
    try fixture.run("CREATE SCHEMA notes_lsp; CREATE TABLE notes_lsp.theirs (x integer)")
    await #expect(throws: StorageError.foreign) { try await fixture.open() }
    #expect(try fixture.run("SELECT count(*) FROM notes_lsp.theirs") == "0")
  }

  @Test func manyProcessesMakeTheSchemaAtOnce() async throws {
    let fixture = try StoreAtServer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 { group.addTask { try await fixture.open().save(["\(number)"], Data([1])) } }
      try await group.waitForAll()
    }
    #expect(try await fixture.open().loadRange([]).count == 6)
  }

  @Test func aDatabaseThatCannotHoldEveryNameIsRefused() async throws {
    let fixture = try StoreAtServer(options: "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    let error = await #expect(throws: StorageError.self) { try await fixture.open() }
    #expect("\(try #require(error))".contains("UTF8"))
  }

  @Test func aTableThatIsPartitionedByDocumentServesAsWell() async throws {
    let fixture = try StoreAtServer()
    _ = try await fixture.open()
    try fixture.run(
      """
      BEGIN; ALTER TABLE notes_lsp.chunk RENAME TO whole;
      CREATE TABLE notes_lsp.chunk (LIKE notes_lsp.whole INCLUDING DEFAULTS,
        PRIMARY KEY (document, kind, sha256, part)) PARTITION BY HASH (document);
      CREATE TABLE notes_lsp.chunk_0 PARTITION OF notes_lsp.chunk FOR VALUES WITH (MODULUS 2, REMAINDER 0);
      CREATE TABLE notes_lsp.chunk_1 PARTITION OF notes_lsp.chunk FOR VALUES WITH (MODULUS 2, REMAINDER 1);
      DROP TABLE notes_lsp.whole; COMMIT
      """)
    let store = try await fixture.open()
    let items = (0..<16).map { number in Self.chunk(of: "document\(number)", Data([UInt8(number)])) }
    try await store.commit(items.map { .save($0) })
    #expect(Set(try await store.loadRange([])) == Set(items))
    #expect(try await store.children(of: []).count == 16)
    try await store.removeRange(["document3"])
    #expect(try await store.load(items[4].key) == Data([4]))
    #expect(try fixture.run("SELECT count(*) > 0 FROM notes_lsp.chunk_0") == "t")
    #expect(try fixture.run("SELECT count(*) > 0 FROM notes_lsp.chunk_1") == "t")
  }

  @Test func aServerThatIsNotThereIsNamedAtOnce() async throws {
    let fixture = try StoreAtServer()
    let error = await #expect(throws: StorageError.self) {
      try await fixture.open(folder: "/nonexistent", isPatient: false)
    }
    #expect("\(try #require(error))".contains("/nonexistent"))
  }

  // MARK: Rows

  @Test func bytesThatAreNotWhatWasWrittenAreNoticed() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    for number in 0..<5 { try await store.save(["d", "\(number)"], Data(repeating: 7, count: 500)) }
    try fixture.run("UPDATE notes_lsp.record SET bytes = '\\x00' WHERE key = 'd/1/'")
    try fixture.run("UPDATE notes_lsp.record SET sha256 = '' WHERE key = 'd/2/'")
    try fixture.run("UPDATE notes_lsp.record SET part = 9 WHERE key = 'd/3/'")
    try fixture.run(
      "INSERT INTO notes_lsp.record SELECT 'd/4/', 1, sha256, bytes FROM notes_lsp.record WHERE key = 'd/4/'")
    try fixture.run(
      "INSERT INTO notes_lsp.record VALUES ('d/%zz/', 0, '', ''), ('no end', 0, '', ''), ('', -1, '', '')")
    for number in 1...2 {
      await #expect(throws: StorageError.damaged(["d", "\(number)"])) { try await store.load(["d", "\(number)"]) }
    }
    await #expect(throws: StorageError.damaged(["d", "4"])) { try await store.load(["d", "4"]) }
    #expect(Set(try await store.loadRange(["d"]).map(\.key)).isSubset(of: [["d", "0"], ["d", "3"]]))
    #expect(try await store.loadRange([]).count <= 2)
    #expect(Set(try await store.children(of: ["d"])) == ["0", "1", "2", "3", "4"])
    for number in 0..<5 { try await store.save(["d", "\(number)"], Data([1])) }
    #expect(try await store.loadRange(["d"]).filter { $0.data == Data([1]) }.count == 5)
  }

  @Test func aForgedChunkMakesWayForTheTrueOne() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    let good = Self.chunk(of: "doc", Data([1, 2, 3])), forged = StoredItem(key: good.key, data: Data([6, 6]))
    try await store.save(good.key, good.data)
    try fixture.run("UPDATE notes_lsp.chunk SET bytes = '\\x0606'")
    await #expect(throws: StorageError.damaged(good.key)) { try await store.load(good.key) }
    #expect(try await store.loadRange(["doc"]) == [forged], "its reader verifies it")
    try await store.setAside(good)
    #expect(try await store.loadRange(["doc"]) == [forged], "something else is stored there")
    try await store.setAside(forged)
    #expect(try await store.loadRange(["doc"]).isEmpty)
    #expect(
      try fixture.run("SELECT key, bytes FROM notes_lsp.damaged") == "\(good.key.joined(separator: "/"))/|\\x0606")
    try await store.save(good.key, good.data)
    try fixture.run("UPDATE notes_lsp.chunk SET bytes = '\\x07'")
    try await store.save(good.key, good.data)
    #expect(try await store.load(good.key) == good.data, "what is reported as stored is stored")
  }

  @Test func aChunkThatIsStoredTwiceIsOneRowThatIsNotWrittenAgain() async throws {
    let fixture = try StoreAtServer()
    let (one, other) = (try await fixture.open(), try await fixture.open())
    let item = Self.chunk(of: "doc", Data(repeating: 9, count: 700_000))
    try await one.save(item.key, item.data)
    let before = try fixture.run("SELECT part, xmin, writer FROM notes_lsp.chunk ORDER BY part")
    try await other.save(item.key, item.data)
    #expect(try fixture.run("SELECT part, xmin, writer FROM notes_lsp.chunk ORDER BY part") == before)
    #expect(try await other.load(item.key) == item.data)
    #expect(before.split(separator: "\n").count == 3)
  }

  // MARK: Commits

  @Test func commitsThatWaitBecomeOneTransaction() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    try await store.save(["first"], Data([1]))
    let before = try #require(Int(try fixture.run("SELECT number FROM notes_lsp.writer")))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<400 { group.addTask { try await store.save(["\(number)"], Data([1])) } }
      try await group.waitForAll()
    }
    let after = try #require(Int(try fixture.run("SELECT number FROM notes_lsp.writer")))
    #expect(try await store.loadRange([]).count == 401)
    #expect(after - before <= 200, "400 commits took \(after - before) transactions")
    print("400 commits at once took \(after - before) transactions")
  }

  @Test func oneBadCommitDoesNotPreventTheOthers() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    try fixture.run("ALTER TABLE notes_lsp.record ADD CHECK (key <> 'bad/')")
    let results = await withTaskGroup(of: (Int, StorageError?).self) { group in
      for number in 0..<20 {
        group.addTask {
          do throws(StorageError) {
            try await store.save(number == 7 ? ["bad"] : ["good", "\(number)"], Data([1]))
            return (number, nil)
          } catch {
            return (number, error)
          }
        }
      }
      return await group.reduce(into: [Int: StorageError]()) { errors, result in errors[result.0] = result.1 }
    }
    #expect(Array(results.keys) == [7])
    #expect(try await store.loadRange(["good"]).count == 19)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func writersThatLockTheSameRowsInAnyOrderAllSucceed(seed: UInt64) async throws {
    let fixture = try StoreAtServer()
    let stores = [try await fixture.open(), try await fixture.open(), try await fixture.open()]
    var random = SeededGenerator(seed: seed)
    let commits = (0..<60).map { number in
      (0..<8).map { _ in
        StorageChange.save(
          StoredItem(key: ["r", "\(Int.random(in: 0..<12, using: &random))"], data: Data("\(number)".utf8)))
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, commit) in commits.enumerated() {
        let store = stores[index % stores.count]
        group.addTask { try await store.commit(commit) }
      }
      try await group.waitForAll()
    }
    #expect(try await stores[0].loadRange(["r"]).count <= 12)
    #expect(
      try fixture.run("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0",
      "seed \(seed)")
  }

  @Test func aReaderOfManyLargeValuesGetsThemWhole() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    let values = (0..<12).map { number in Data((0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* (number + 3)) }) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, value) in values.enumerated() { group.addTask { try await store.save(["v", "\(index)"], value) } }
      try await group.waitForAll()
    }
    for item in try await store.loadRange(["v"]) { #expect(item.data == values[Int(item.key[1]) ?? 0]) }
    try await store.save(["v", "0"], Data([1]))
    #expect(try fixture.run("SELECT count(*) FROM notes_lsp.record WHERE key = 'v/0/'") == "1")
  }

  static func chunk(of document: String, _ data: Data) -> StoredItem {
    StoredItem(key: [document, "incremental", Digest.hexadecimal(data)], data: data)
  }
}
