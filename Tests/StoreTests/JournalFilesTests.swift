import Foundation
import Store
import TestSupport
import Testing

@Suite struct JournalFilesTests {
  @Test func whatALivingProcessWritesIsReadAndNotTakenForADeadOnes() async throws {
    let home = try TemporaryDirectory()
    let mine = JournalFiles(home: home.path, run: "aa"), other = JournalFiles(home: home.path, run: "bb")
    #expect(mine.append([1, 2]) == 2)
    #expect(mine.append([3]) == 3)
    #expect(await other.read("aa") == [1, 2, 3])
    #expect(await other.deadRuns() == [])
    await other.remove("aa")
    #expect(await other.read("aa") == [1, 2, 3])
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
    #expect(await other.deadRuns() == ["aa"])
    #expect(await other.read("aa") == [1, 2])
    await other.remove("aa")
    #expect(await other.deadRuns() == [])
    #expect(await other.read("aa") == nil)
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
    #expect(await journal.read("aa") == [9, 10, 11, 12])
    journal.end()
    #expect(await journal.read("aa") == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/journal") == [])
  }

  @Test func aJournalThatCannotBeMadeIsSaid() async throws {
    let home = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: home.path + "/journal"))
    let journal = JournalFiles(home: home.path, run: "aa")
    #expect(journal.append([1]) == nil)
    #expect(await journal.read("aa") == nil)
  }
}
