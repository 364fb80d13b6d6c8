import AutomergeRepo
import Foundation
import Synchronization

/// Commits, several providers at one place, and writers at the same time.
extension StorageConformance {
  func commitOrder(_ store: any StorageProvider) async throws {
    try await store.save(["old", "1"], Data([1]))
    try await store.commit([
      .save(StoredItem(key: ["a"], data: Data([1]))), .remove(["a"]), .save(StoredItem(key: ["b"], data: Data([1]))),
      .save(StoredItem(key: ["b"], data: Data([2]))), .save(StoredItem(key: ["old", "2"], data: Data([2]))),
      .removeRange(["old"]), .save(StoredItem(key: ["old", "3"], data: Data([3]))),
    ])
    try expect(try await store.load(["a"]) == nil, "a commit that saves a key and then removes it leaves no value")
    try expect(try await store.load(["b"]) == Data([2]), "of two saves in a commit the later one counts")
    try expect(
      try await store.loadRange(["old"]).map(\.key) == [["old", "3"]],
      "a commit that removes a range keeps what it saves afterwards, and nothing else of the range")
    try await store.commit([])
  }

  func recordUpdates(_ store: any StorageProvider) async throws {
    func record(_ title: String, _ words: Int, isDeleted: Bool = false) -> Data {
      let deleted: CBOR? = isDeleted ? .bool(true) : nil
      return Data(CBOR.record(["title": .text(title), "words": .integer(words), "deleted": deleted]).encoded())
    }
    func update(_ data: Data, _ known: SharedRecord) async throws -> CBOR? {
      try await store.commit([.update(StoredItem(key: ["r"], data: data), of: known)])
      return try await store.record(at: ["r"])
    }
    let (ours, theirs) = (SharedRecord(nil), SharedRecord(record("Trip", 1)))
    var stored = try await update(record("Trip", 1), ours)
    try expect(stored?["title"] == .text("Trip"), "an update of a record that is not there stores it")
    _ = try await update(record("Trip", 1, isDeleted: true), theirs)
    stored = try await update(record("Journey", 1), ours)
    try expect(
      stored?["title"] == .text("Journey") && stored?["deleted"] == .bool(true),
      "an update keeps the fields that another process has stored")
    stored = try await update(record("Trip", 2), theirs)
    try expect(
      stored?["title"] == .text("Journey") && stored?["deleted"] == nil && stored?["words"] == .integer(2),
      "an update stores the fields that this process has changed, and removes those that it has removed")
    try await store.save(["r"], Data([0xFF]))
    stored = try await update(record("Trip", 3), ours)
    try expect(stored?["words"] == .integer(3), "an update replaces bytes that are not a record")
  }

  func reopening(_ store: any StorageProvider, reopen: () async throws -> any StorageProvider) async throws {
    let losses = store.lossCount
    try await store.save(["a", "b"], Data([1, 2]))
    try await store.save(["gone"], Data([3]))
    try await store.remove(["gone"])
    try await store.commit([.save(StoredItem(key: ["c"], data: Data([3])))])
    let later = try await reopen()
    try expect(
      Set(try await later.loadRange([])) == [
        StoredItem(key: ["a", "b"], data: Data([1, 2])), StoredItem(key: ["c"], data: Data([3])),
      ], "a provider that is opened later has exactly what an earlier one has stored")
    try expect(store.lossCount == losses, "lossCount does not rise while nothing is lost")
  }

  func sharing(_ store: any StorageProvider, _ other: any StorageProvider) async throws {
    try await store.save(["a"], Data([1]))
    try expect(try await other.load(["a"]) == Data([1]), "a provider sees what another one stores at the same place")
    try await other.save(["a"], Data([2]))
    try await other.save(["b", "c"], Data([3]))
    try expect(try await store.load(["a"]) == Data([2]), "a provider sees that another one has replaced a value")
    try expect(try await store.children(of: []).sorted() == ["a", "b"], "a provider sees another one's keys")
    try await other.removeRange(["b"])
    try expect(try await store.loadRange([]).map(\.key) == [["a"]], "a provider sees what another one has removed")
  }

  func wholeValues(_ store: any StorageProvider, _ other: any StorageProvider) async throws {
    let values = (0..<3).map { Data(repeating: UInt8($0), count: 20_000 + $0) }
    try await store.save(["value"], values[0])
    try await Self.atTheSameTime { number in
      try await store.save(["value"], values[number % values.count])
    } _: { _ in
      let value = try await other.load(["value"])
      try expect(value != nil, "a value that is being replaced is there all the time")
      try expect(values.contains { $0 == value }, "a value is replaced whole: a reader sees the old one or the new one")
    }
  }

  /// Runs two things at the same time, at least fifty times each: neither ends before the other has run as often.
  private static func atTheSameTime(
    _ one: @escaping @Sendable (Int) async throws -> Void, _ other: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    let (oneCount, otherCount) = (Tally(), Tally())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (body, own, others) in [(one, oneCount, otherCount), (other, otherCount, oneCount)] {
        group.addTask {
          while own.count < 50 || others.count < 50 {
            try Task.checkCancellation()
            try await body(own.count)
            own.add()
            await Task.yield()
          }
        }
      }
      // Ends with the first error, unlike `waitForAll`, and so cancels the other.
      for try await _ in group {}
    }
  }

  func concurrentWriters(_ store: any StorageProvider, _ other: any StorageProvider) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask { try await Self.write(as: "\(writer)", to: writer % 2 == 0 ? store : other) }
      }
      try await group.waitForAll()
    }
    try await Self.checkWritten(by: (0..<4).map { "\($0)" }, in: store)
  }

  /// Runs one of several writers that write at the same time. Call it in separate processes, each with another name,
  /// and `checkWritten` when all have ended: the one check that the suite cannot run by itself.
  public static func write(as name: String, to store: any StorageProvider) async throws {
    for number in 0..<16 {
      try await store.save(["shared", "incremental", "\(name)-\(number)"], Data("\(name)-\(number)".utf8))
      try await store.save(["shared", "same"], Data([7, 7]))
      if number > 0 { try await store.remove(["shared", "incremental", "\(name)-\(number - 1)"]) }
      _ = try await store.loadRange(["shared"])
    }
  }

  /// Throws unless the store contains what `write` leaves.
  public static func checkWritten(by names: [String], in store: any StorageProvider) async throws {
    let expected = names.map { "\($0)-15" }
    let items = try await store.loadRange(["shared", "incremental"])
    try expect(
      Set(items.map(\.key)) == Set(expected.map { ["shared", "incremental", $0] }),
      "writers at the same time do not undo each other's saves and removals")
    try expect(items.allSatisfy { $0.data == Data($0.key[2].utf8) }, "writers do not mix up each other's values")
    try expect(try await store.load(["shared", "same"]) == Data([7, 7]), "equal writes of one key agree")
  }

  func atomicCommits(_ store: any StorageProvider, _ other: any StorageProvider) async throws {
    try await store.save(["kept"], Data([1]))
    let impossible: [StorageChange] = [
      .save(StoredItem(key: ["a"], data: Data([1]))), .remove(["kept"]), .save(StoredItem(key: [], data: Data([1]))),
    ]
    var isRefused = false
    do throws(StorageError) { try await store.commit(impossible) } catch { isRefused = true }
    try expect(isRefused, "a commit with an impossible step throws")
    try expect(try await store.loadRange([]).map(\.key) == [["kept"]], "a commit that throws has changed nothing")
    @Sendable func pair(_ number: Int) -> [StorageChange] {
      ["one", "two"].map { .save(StoredItem(key: ["pair", $0], data: Data("\(number)".utf8))) }
    }
    try await store.commit(pair(0))
    try await Self.atTheSameTime { number in
      try await store.commit(pair(number))
    } _: { _ in
      let items = try await other.loadRange(["pair"])
      try expect(
        items.count == 2 && items[0].data == items[1].data,
        "a range has either all that a commit of another process has stored, or nothing of it")
    }
  }
}

/// Counts on several threads.
private final class Tally: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add() { number.withLock { $0 += 1 } }
}
