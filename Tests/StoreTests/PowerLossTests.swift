import AutomergeRepo
import Foundation
import SQLiteStorage
import TestSupport
import Testing

/// A disk that loses its power: what was synced is there, of what was not any sectors, in any order.
struct PowerLossTests {
  private static let sectorByteCount = 512
  private static let stepCount = 200

  /// The log after each of so many commits, and the database beside it.
  private struct Recording {
    var database: Data
    var log: Data
    /// How much of the log was synced when a commit was reported stored.
    var syncedByteCounts: [Int] = []
  }

  private func record() async throws -> Recording {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    let base = try fixture.bytes()
    var recording = Recording(database: base, log: Data())
    for step in 0..<Self.stepCount {
      // In the last commit before a merge, the rows before it go.
      var changes: [StorageChange] = [.save(StoredItem(key: ["d", "\(step)"], data: value(step)))]
      if step % 10 == 9 { changes += (step - 9..<step).map { .remove(["d", "\($0)"]) } }
      try await store.commit(changes)
      recording.syncedByteCounts.append(try fixture.bytes("-wal").count)
    }
    recording.log = try fixture.bytes("-wal")
    #expect(try fixture.bytes() == base, "nothing was moved into the database meanwhile")
    return recording
  }

  private func value(_ step: Int) -> Data {
    Data("\(step) ".utf8) + Data(repeating: UInt8(step), count: step * 7 % 900)
  }

  /// What must be there after so many commits.
  private func expected(after steps: Int) -> Set<StoredItem> {
    let merged = steps / 10 * 10
    return Set(
      (0..<steps).filter { $0 >= merged || $0 % 10 == 9 }
        .map { StoredItem(key: ["d", "\($0)"], data: value($0)) })
  }

  private func reopened(_ database: Data, _ log: Data) async throws -> Set<StoredItem> {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(atPath: fixture.home, withIntermediateDirectories: true)
    try fixture.write(database)
    try fixture.write(log, "-wal")
    let store = try await fixture.open()
    #expect(store.lossCount == 0)
    return Set(try await store.loadRange([]))
  }

  @Test func everyPrefixOfTheLogHoldsWhatWasStored() async throws {
    let recording = try await record()
    var random = SeededGenerator(seed: 41)
    for (step, synced) in recording.syncedByteCounts.enumerated() {
      let next = step + 1 < Self.stepCount ? recording.syncedByteCounts[step + 1] : synced
      var log = recording.log.prefix(next)
      // Of the next commit, which was not reported, only some sectors have arrived, and they may be torn.
      var offset = synced
      while offset < next {
        let end = min(next, (offset / Self.sectorByteCount + 1) * Self.sectorByteCount)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1: for place in offset..<end { log[place] = UInt8.random(in: 0...255, using: &random) }
        case 2:
          log.replaceSubrange(Int.random(in: offset..<end, using: &random)..<end, with: Data(count: 0)); offset = next
        default: log.replaceSubrange(offset..<end, with: Data(count: end - offset))
        }
        offset = max(offset, end)
      }
      let found = try await reopened(recording.database, Data(log))
      let isStored = found == expected(after: step + 1) || found == expected(after: step + 2)
      #expect(isStored, "seed \(random.seed), step \(step)")
    }
  }

  @Test func aCheckpointThatIsCutShortLosesNothing() async throws {
    let fixture = try StoreFixture()
    let store = try await fixture.open()
    let before = try fixture.bytes()
    for step in 0..<Self.stepCount { try await store.save(["d", "\(step)"], value(step)) }
    let log = try fixture.bytes("-wal")
    try fixture.execute("PRAGMA wal_checkpoint(FULL)")
    let after = try fixture.bytes()
    var random = SeededGenerator(seed: 42)
    for round in 0..<40 {
      // Any sectors of the database are new, old or torn, and the log is still whole.
      var database = before + Data(count: max(0, after.count - before.count))
      for offset in stride(from: 0, to: database.count, by: Self.sectorByteCount) {
        let end = min(database.count, offset + Self.sectorByteCount)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: database.replaceSubrange(offset..<end, with: after[offset..<end])
        case 1 where offset >= 4096:
          database.replaceSubrange(
            offset..<end, with: (offset..<end).map { _ in UInt8.random(in: 0...255, using: &random) })
        default: break
        }
      }
      let found = try await reopened(database, log)
      #expect(found.count == Self.stepCount, "seed \(random.seed), round \(round)")
    }
  }

  @Test func aLogThatIsCutShortOrFlippedStillOpens() async throws {
    let recording = try await record()
    var random = SeededGenerator(seed: 43)
    for round in 0..<60 {
      var log = recording.log
      if round % 2 == 0 {
        log = log.prefix(Int.random(in: 0...log.count, using: &random))
      } else {
        let place = Int.random(in: 0..<log.count, using: &random)
        log[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      let found = try await reopened(recording.database, Data(log))
      #expect((0...Self.stepCount).contains { found == expected(after: $0) }, "seed \(random.seed), round \(round)")
    }
  }
}
