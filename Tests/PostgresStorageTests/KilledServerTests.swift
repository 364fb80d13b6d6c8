import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import PostgresStorage
import RepoTestSupport
import TestSupport
import Testing
import UV

/// Servers that are killed, stopped and frozen while stores write, and stores that are killed.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct KilledServerTests {}

extension KilledServerTests {
  /// `NOTES_KILLS` asks for more.
  private static let kills = ProcessInfo.processInfo.environment["NOTES_KILLS"].flatMap { Int($0) } ?? 4

  @Test func nothingThatWasStoredIsLostWhenTheServerOrAWriterIsKilled() async throws {
    let server = try PostgresServer()
    let fixture = try StoreAtServer(server)
    var random = SeededGenerator(seed: 51)
    var stored: [String: Int] = ["one": 0, "two": 0]
    var (count, longestRecovery) = (0, Duration.zero)
    while count < Self.kills {
      let writers = try ["one", "two"].map { name in
        (name, try Self.writer(fixture, name, "\(Int.random(in: 10...20_000, using: &random))"))
      }
      for (_, writer) in writers { try Self.wait(writer, commits: Int.random(in: 1...60, using: &random)) }
      let killed = ContinuousClock.now
      try server.kill()
      try server.start()
      // Both go on by themselves, and then one after the other is killed itself.
      for (_, writer) in writers { try Self.wait(writer, commits: Self.commits(of: writer).count + 5) }
      longestRecovery = max(longestRecovery, ContinuousClock.now - killed)
      for (name, writer) in writers {
        try Self.wait(writer, commits: Self.commits(of: writer).count + Int.random(in: 1...30, using: &random))
        kill(writer.processId, SIGKILL)
        try writer.waitForExit()
        try writer.wait(for: "the rest of its output", until: .now + Patience.hang) { $0.isOutputAtEnd }
        let numbers = Self.commits(of: writer)
        let first = try #require(numbers.first)
        #expect(numbers == Array(first...(numbers.last ?? 0)), "each is stored once, in order")
        stored[name] = max(stored[name] ?? 0, numbers.last ?? 0)
      }
      count += 1
      try await check(fixture, stored, seed: random.seed)
    }
    print(
      "\(count) kills of the server, \(2 * count) of writers, \(stored.values.reduce(0, +)) commits stored, none lost;",
      "longest pause \(longestRecovery)")
    try server.stop()
  }

  /// Every number up to the last that was reported is there, as a chunk or in the snapshot, and the record is not behind.
  private func check(_ fixture: StoreAtServer, _ stored: [String: Int], seed: UInt64) async throws {
    let store = try await fixture.open()
    for (name, last) in stored {
      // The server may still be at the last commit of a writer that was killed.
      var record: Int?, snapshots: [Int], chunks: Set<Int>
      repeat {
        record = try await number(of: name, in: store)
        snapshots = try await store.loadRange([name, "merged"]).compactMap { Int($0.key[2]) }
        chunks = Set(try await store.loadRange([name, "added"]).compactMap { Int($0.key[2]) })
      } while try await number(of: name, in: store) != record
      let merged = snapshots.max() ?? 0
      #expect(snapshots.count <= 1, "seed \(seed)")
      #expect(
        last <= merged || chunks.isSuperset(of: merged + 1...max(last, merged + 1)), "seed \(seed), \(name) \(last)")
      #expect(record ?? 0 == max(merged, chunks.max() ?? 0), "seed \(seed): chunk and record are one commit")
    }
    await store.close()
  }

  private func number(of name: String, in store: PostgresStore) async throws -> Int? {
    try await store.load(["notes", name]).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
  }

  @Test func severalProcessesWriteSideBySide() async throws {
    let fixture = try StoreAtServer()
    let names = ["a", "b", "c"]
    let writers = try names.map { try Self.writer(fixture, $0, "conformance") }
    for writer in writers { #expect(try writer.waitForExit() == .code(0), "\(writer.details)") }
    try await StorageConformance.checkWritten(by: names, in: fixture.open())
  }

  private static func writer(_ fixture: StoreAtServer, _ name: String, _ rest: String) throws -> ChildProcess {
    let program = try #require(StorePrograms.writer, "postgres-writer is not built")
    let url = "postgres://tests@/\(fixture.database)?host=\(fixture.server.folder)"
    return try ChildProcess([program, url, name, rest])
  }

  private static func commits(of writer: ChildProcess) -> [Int] {
    String(decoding: writer.output, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
  }

  private static func wait(_ writer: ChildProcess, commits count: Int) throws {
    try writer.wait(for: "\(count) commits", until: .now + Patience.hang) { commits(of: $0).count >= count }
  }
}

/// A server that is away, in a time that the test moves.
@Suite(.serialized, .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct AbsentServerTests {}

extension AbsentServerTests {
  @AutomergeRepo
  private final class Outcome {
    var isDone = false
    var error: StorageError?
  }

  /// - Parameter isPatient: whether to try again when the store gives up, as a repo does.
  @AutomergeRepo
  private static func save(_ name: String, in store: PostgresStore, isPatient: Bool = false) -> Outcome {
    let outcome = Outcome()
    Task {
      repeat {
        outcome.error = nil
        do throws(StorageError) { try await store.save(["d", name], Data(name.utf8)) } catch { outcome.error = error }
      } while isPatient && outcome.error != nil
      outcome.isDone = true
    }
    return outcome
  }

  @Test(arguments: [false, true])
  func whatWaitsForAServerIsSaidAfterSecondsAndStoredWhenItIsBack(isFrozen: Bool) async throws {
    try await TestLoop.run { loop in
      let server = try PostgresServer()
      let fixture = try StoreAtServer(server)
      let clock = ManualClock()
      let url = try server.url(fixture.database)
      let store = try await PostgresStore.open(url, loop: loop, clock: clock)
      let first = Self.save("first", in: store)
      try await clock.run(until: "stored", horizon: .zero) { first.isDone }
      if isFrozen { server.setFrozen(true) } else { try server.stop() }
      let away = [Self.save("a", in: store), Self.save("b", in: store)]
      let before = clock.now
      try await clock.run(until: "the end of patience", horizon: .seconds(30)) { away.allSatisfy(\.isDone) }
      // This clock does not wait for the server's sockets, so one patience may pass before the loss is heard, and then another.
      #expect(clock.now - before <= .seconds(12))
      for outcome in away {
        guard case .unreachable? = outcome.error else {
          throw HasNotCome(description: "\(String(describing: outcome.error))")
        }
      }
      let waiting = (0..<40).map { Self.save("w\($0)", in: store, isPatient: true) }
      if isFrozen { server.setFrozen(false) } else { try server.start() }
      while !waiting.allSatisfy(\.isDone) {
        // The server takes its own time, so this clock may run far ahead of it.
        clock.runNext(until: clock.now + .seconds(1))
        await Task.yield()
      }
      let names = Set(try await store.loadRange(["d"]).map { $0.key[1] })
      #expect(names.isSuperset(of: ["first"] + (0..<40).map { "w\($0)" }))
      await store.close()
      try server.stop()
    }
  }

  @Test func aClosedStoreAnswersEveryCall() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    try await store.save(["a"], Data([1]))
    await store.close()
    await #expect(throws: StorageError.unreachable("the store is closed")) { try await store.load(["a"]) }
    await #expect(throws: StorageError.unreachable("the store is closed")) { try await store.save(["a"], Data()) }
    try await Self.waitFor { try fixture.run("SELECT count(*) FROM notes_lsp.writer") == "0" }
  }

  private static func waitFor(_ condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Patience.hang
    while try !condition() {
      guard ContinuousClock.now < deadline else { throw HasNotCome(description: "a condition") }
      await Task.yield()
    }
  }
}
