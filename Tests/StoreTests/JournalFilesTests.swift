import Foundation
import Store
import TestSupport
import Testing

struct JournalFilesTests {
  @Test func whatALivingProcessWritesIsReadAndNotTakenForADeadOnes() async throws {
    let home = try TemporaryDirectory()
    let mine = JournalFiles(home: home.path, run: "aa"), other = JournalFiles(home: home.path, run: "bb")
    #expect(mine.append([1, 2]) == 2)
    #expect(mine.append([3]) == 3)
    #expect(try await other.read("aa") == [1, 2, 3])
    #expect(await other.deadRuns() == [])
    #expect(await other.livingRuns() == ["aa"])
    await other.remove("aa")
    #expect(try await other.read("aa") == [1, 2, 3])
  }

  @Test func aDeadProcessLeavesItsJournalToTheNext() async throws {
    let home = try TemporaryDirectory()
    do {
      let dead = JournalFiles(home: home.path, run: "aa")
      _ = dead.append([1])
      #expect(dead.beginSegment() == 2)
      _ = dead.append([2])
    }
    let other = JournalFiles(home: home.path, run: "bb")
    // A child that another test of this process has just forked holds the lock too, until it runs its program.
    try await eventually { await other.deadRuns() == ["aa"] }
    #expect(try await other.read("aa") == [1, 2])
    try await eventually {
      await other.remove("aa")
      return try await other.read("aa") == nil
    }
    #expect(await other.deadRuns() == [])
    #expect(try await other.read("aa") == nil)
  }

  @Test func anAbandonedJournalIsReadAsADeadOnesAndTheNextBeginsAnew() async throws {
    let home = try TemporaryDirectory()
    let mine = JournalFiles(home: home.path, run: "aa"), other = JournalFiles(home: home.path, run: "bb")
    for number in 1...2 as ClosedRange<UInt8> {
      #expect(mine.append([number]) == 1)
      _ = mine.beginSegment()
      _ = mine.append([number + 10])
      mine.abandon()
    }
    try await eventually { await other.deadRuns() == ["aa-1", "aa-2"] }
    #expect(try await other.read("aa-1") == [1, 11])
    #expect(await mine.deadRuns() == ["aa-1", "aa-2"])
    #expect(try await mine.read("aa-2") == [2, 12])
    #expect(try await mine.read("aa") == nil)
    #expect(mine.append([3]) == 1)
    #expect(await other.livingRuns() == ["aa"])
  }

  /// Else it would be removed, with what the other parts have.
  @Test func aJournalWithAPartThatCannotBeReadIsNotTakenForNone() async throws {
    let home = try TemporaryDirectory()
    let folder = home.path + "/journal", other = JournalFiles(home: home.path, run: "bb")
    #expect(try await other.read("aa") == nil)
    try FileManager.default.createDirectory(atPath: folder + "/aa.1", withIntermediateDirectories: true)
    try Data([2]).write(to: URL(fileURLWithPath: folder + "/aa.2"))
    await #expect(throws: (any Error).self) { try await other.read("aa") }
    try FileManager.default.removeItem(atPath: folder + "/aa.1")
    #expect(try await other.read("aa") == [2])
  }

  @Test func theLockOfAProcessThatWroteNothingGoes() async throws {
    let home = try TemporaryDirectory()
    let journal = JournalFiles(home: home.path, run: "bb"), folder = home.path + "/journal"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder + "/aa.lock"))
    #expect(await journal.deadRuns() == ["aa"])
    #expect(try await journal.read("aa") == nil)
    await journal.remove("aa")
    await journal.remove("aa")
    #expect(await journal.deadRuns() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
  }

  @Test func aDeadProcessIsFoundByAllWhoLookAtOnce() async throws {
    let home = try TemporaryDirectory()
    do {
      let dead = JournalFiles(home: home.path, run: "aa")
      _ = dead.append([1])
    }
    let others = ["bb", "cc"].map { JournalFiles(home: home.path, run: $0) }
    try await eventually { await others[0].deadRuns() == ["aa"] }
    let found = await withTaskGroup { group in
      for number in 0..<400 { group.addTask { await others[number % 2].deadRuns() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(found.count { $0 == ["aa"] } == 400)
    #expect(await others[0].livingRuns() == [])
  }

  /// Asks again until the condition holds; a deadline only ends a hang.
  private func eventually(_ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Patience.hang
    while try await !condition() {
      try #require(ContinuousClock.now < deadline, "time is up")
      await Task.yield()
    }
  }

  @Test func segmentsThatAreStoredGo() async throws {
    let home = try TemporaryDirectory()
    let journal = JournalFiles(home: home.path, run: "aa")
    #expect(journal.beginSegment() == nil)
    for number in 1...12 {
      _ = journal.append([UInt8(number)])
      #expect(journal.beginSegment() == number + 1)
    }
    journal.removeSegments(before: 9)
    #expect(try await journal.read("aa") == [9, 10, 11, 12])
    journal.end()
    #expect(try await journal.read("aa") == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/journal") == [])
  }

  @Test func aJournalThatCannotBeMadeIsSaid() async throws {
    let home = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: home.path + "/journal"))
    let journal = JournalFiles(home: home.path, run: "aa")
    #expect(journal.append([1]) == nil)
    #expect(try await journal.read("aa") == nil)
  }
}
