import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PeerNetwork

struct FileLockTests {
  @Test func oneAtATimeHasIt() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/lock"
    do {
      let first = FileLock(path: path)
      #expect(first != nil && FileLock(path: path) == nil)
      #expect(FileLock.isTaken(path: path))
      withExtendedLifetime(first) {}
    }
    #expect(!FileLock.isTaken(path: path) && !FileLock.isTaken(path: directory.path + "/no such lock"))
    #expect(FileLock(path: path) != nil)
    #expect(FileLock(path: directory.path + "/no such folder/lock") == nil)
  }

  /// A process that is being started has copies of all descriptors until it runs its program.
  @Test func aCopyOfTheDescriptorKeepsNoLock() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/lock"
    var copy: Int32 = -1
    do {
      let lock = try #require(FileLock(path: path))
      copy = dup(try descriptor(of: path))
      withExtendedLifetime(lock) {}
    }
    defer { close(copy) }
    #expect(copy >= 0 && !FileLock.isTaken(path: path) && FileLock(path: path) != nil)
  }

  /// A descriptor is a number, and free numbers are used again: what is closed twice belongs to other code the second time.
  @Test func aRefusedLockClosesNoOtherDescriptor() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/lock"
    let held = try #require(FileLock(path: path))
    let isDone = Atomic(false)
    let lost = Atomic(0)
    let opener = Thread {
      while !isDone.load(ordering: .relaxed) {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        sched_yield()
        if close(descriptor) != 0 { lost.add(1, ordering: .relaxed) }
      }
    }
    opener.start()
    var refused = 0
    for _ in 0..<20_000 where FileLock(path: path) == nil { refused += 1 }
    #expect(refused == 20_000)
    isDone.store(true, ordering: .relaxed)
    while !opener.isFinished { sched_yield() }
    #expect(lost.load(ordering: .relaxed) == 0)
    withExtendedLifetime(held) {}
  }
}
