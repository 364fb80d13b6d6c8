import AutomergeRepo
import Foundation
import SQLiteStorage
import TestSupport
import Testing

/// Processes that are killed while they write, and a disk that fills up.
@Suite(.enabled(if: StoreFixture.writer != nil, "store-writer is not built"))
struct KilledWriterTests {}

extension KilledWriterTests {
  /// `NOTES_KILLS` asks for more; a long run has at least 200.
  private static let kills = ProcessInfo.processInfo.environment["NOTES_KILLS"].flatMap { Int($0) } ?? 30

  @Test func nothingThatWasStoredIsLostWhenWritersAreKilled() async throws {
    let fixture = try StoreFixture()
    let writer = try #require(StoreFixture.writer)
    var random = SeededGenerator(seed: 51)
    var stored: [String: Int] = ["one": 0, "two": 0]
    var (count, longestStart) = (0, Duration.zero)
    while count < Self.kills {
      // Two at a time on one store; each is killed after a random number of commits.
      let children = try ["one", "two"].map { name in
        (name, try ChildProcess([writer, fixture.home, name, "\(Int.random(in: 10...20_000, using: &random))"]))
      }
      for (name, child) in children {
        let lines = Int.random(in: 1...40, using: &random)
        let start = ContinuousClock.now
        try child.wait(for: "its first line", until: .now + Patience.hang) { !$0.output.isEmpty }
        longestStart = max(longestStart, ContinuousClock.now - start)
        try child.wait(for: "\(lines) commits", until: .now + Patience.hang) {
          $0.output.count { $0 == UInt8(ascii: "\n") } > lines
        }
        kill(child.processId, SIGKILL)
        try child.waitForExit()
        try child.wait(for: "the rest of its output", until: .now + Patience.hang) { $0.isOutputAtEnd }
        let numbers = String(decoding: child.output, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
        stored[name] = numbers.max() ?? stored[name]
        count += 1
      }
      try await check(fixture, stored, seed: random.seed)
    }
    #expect(try fixture.names().allSatisfy { !$0.hasPrefix("damaged") })
    print("\(count) kills, \(stored.values.reduce(0, +)) commits stored, none lost; longest start \(longestStart)")
  }

  /// Every number up to the last that was reported is there, as a chunk or in the snapshot, and the record is not behind.
  private func check(_ fixture: StoreFixture, _ stored: [String: Int], seed: UInt64) async throws {
    let store = try await fixture.open()
    for (name, last) in stored {
      let snapshots = try await store.loadRange([name, "snapshot"]).compactMap { Int($0.key[2]) }
      let merged = snapshots.max() ?? 0
      let chunks = Set(try await store.loadRange([name, "incremental"]).compactMap { Int($0.key[2]) })
      #expect(snapshots.count <= 1, "seed \(seed)")
      #expect(
        last <= merged || chunks.isSuperset(of: merged + 1...max(last, merged + 1)), "seed \(seed), \(name) \(last)")
      let record = try await store.load(["notes", name]).flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      #expect(record == max(merged, chunks.max() ?? 0), "seed \(seed): chunk and record are one commit")
    }
  }

  @Test func aFullDiskIsSaidAndWritingGoesOnWhenThereIsRoom() throws {
    let directory = try TemporaryDirectory()
    let disk = try directory.directory("disk")
    let writer = try #require(StoreFixture.writer)
    let script = """
      mount -t tmpfs -o size=3m tmpfs \(disk) || exit 77
      head -c 1500000 /dev/zero > \(disk)/filler
      exec \(writer) \(disk)/home one 20000 \(disk)/filler
      """
    let child = try ChildProcess.withOwnMounts(script)
    do {
      try child.wait(for: "a full disk", until: .now + Patience.hang) {
        String(decoding: $0.output, as: UTF8.self).contains("full\n")
      }
    } catch {
      guard try child.waitForExit() == .code(77) || child.output.isEmpty else { throw error }
      print("SKIPPING the full disk: nothing can be mounted here.")
      return
    }
    try child.wait(for: "storing again", until: .now + Patience.hang) {
      String(decoding: $0.output, as: UTF8.self).contains("resumed\n")
    }
    let numbers = String(decoding: child.output, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
    #expect(numbers == Array(1...max(1, numbers.count)), "each is stored once, in order")
    #expect(child.errorOutput.isEmpty)
  }
}
