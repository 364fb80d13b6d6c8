import Foundation
import Store
import TestSupport
import Testing

struct NoteLockTests {
  @Test func severalShareALockAndOneAloneHasItExclusively() throws {
    let directory = try TemporaryDirectory()
    func lock(exclusively: Bool) -> NoteLock? {
      NoteLock(directory: directory.path + "/locks", name: "note", exclusively: exclusively)
    }
    do {
      let shared = [lock(exclusively: false), lock(exclusively: false)]
      #expect(shared.allSatisfy { $0 != nil } && lock(exclusively: true) == nil)
      withExtendedLifetime(shared) {}
    }
    do {
      let exclusive = lock(exclusively: true)
      #expect(exclusive != nil && lock(exclusively: false) == nil)
      withExtendedLifetime(exclusive) {}
    }
    #expect(lock(exclusively: false) != nil)
  }

  /// A process that is being started has copies of all descriptors until it runs its program.
  @Test func aCopyOfTheDescriptorKeepsNoLock() throws {
    let directory = try TemporaryDirectory()
    var copy: Int32 = -1
    do {
      let lock = try #require(NoteLock(directory: directory.path, name: "note", exclusively: true))
      copy = dup(try descriptor(of: directory.path + "/note"))
      withExtendedLifetime(lock) {}
    }
    defer { close(copy) }
    #expect(copy >= 0 && NoteLock(directory: directory.path, name: "note", exclusively: true) != nil)
  }
}
