import Foundation
import Store
import TestSupport
import Testing

/// A service that runs for months may leave no file of a journal open.
struct JournalDescriptorsTests {
  @Test func aJournalThatIsReleasedHasNoFileOpen() throws {
    let home = try TemporaryDirectory(), files = ["aa.lock", "aa.2"].map { home.path + "/journal/" + $0 }
    do {
      let journal = JournalFiles(home: home.path, run: "aa")
      _ = journal.append([1])
      #expect(journal.beginSegment() == 2)
      for file in files { _ = try descriptor(of: file) }
      withExtendedLifetime(journal) {}
    }
    for file in files + [home.path + "/journal/aa.1"] {
      #expect(throws: CocoaError.self) { try descriptor(of: file) }
    }
  }

  /// Their locks are taken in order to look at them.
  @Test func lookingForDeadProcessesAndRemovingThemLeavesNoFileOpen() async throws {
    let home = try TemporaryDirectory(), folder = try home.directory("journal"), kept = home.file("lock")
    try Data([1]).write(to: URL(fileURLWithPath: folder + "/aa.1"))
    try Data().write(to: URL(fileURLWithPath: folder + "/aa.lock"))
    // By this name the file can still be found when it is removed.
    #expect(link(folder + "/aa.lock", kept) == 0)
    let journal = JournalFiles(home: home.path, run: "bb")
    #expect(await journal.deadRuns() == ["aa"])
    #expect(await journal.livingRuns() == [])
    #expect(throws: CocoaError.self) { try descriptor(of: kept) }
    await journal.remove("aa")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    #expect(throws: CocoaError.self) { try descriptor(of: kept) }
  }
}
