import Foundation
import TestSupport
import Testing

@testable import SQLiteStorage

/// What can be said of a store's file before it is opened, and of one that cannot be written.
struct StoreFileStateTests {
  @Test func aFileThatIsNotThereIsMissingAndOneThatCannotBeReachedIsNot() throws {
    let directory = try TemporaryDirectory()
    #expect(StoreFileHeader(directory: directory.path) == .missing)
    #expect(StoreFileHeader(directory: directory.file("none")) == .missing)
    try Data().write(to: URL(fileURLWithPath: directory.file("file")))
    #expect(StoreFileHeader(directory: directory.file("file")) == .unreadable(code: ENOTDIR))
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("notes.db"), withDestinationPath: directory.file("notes.db"))
    #expect(StoreFileHeader(directory: directory.path) == .unreadable(code: ELOOP))
  }

  @Test(.enabled(if: getuid() != 0, "the superuser may write everything"))
  func aStoreThatCannotBeWrittenCanBeReadAndSaysSo() async throws {
    let fixture = try StoreFixture()
    try await fixture.open().save(["a"], Data([1]))
    try fixture.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for (path, mode) in [(fixture.database, 0o400), (fixture.home, 0o500)] { #expect(chmod(path, mode_t(mode)) == 0) }
    defer { chmod(fixture.home, 0o700) }
    let store = try await fixture.open()
    #expect(store.isReadOnly)
    for _ in 0..<2 { #expect(try await store.load(["a"]) == Data([1])) }
    #expect(store.isReadOnly && store.lossCount == 0)
  }
}
