import Foundation
import TestSupport
import Testing
import UV

struct SignalTests {
  @Test func aSignalCallsBackOnTheLoop() throws {
    try runLoop { loop in
      let count = Box(0)
      _ = try SignalWatcher(on: loop, signal: SIGUSR1) {
        count.value += 1
        #expect(loop.isOnLoop)
        if count.value == 2 { loop.stop() } else { kill(getpid(), SIGUSR1) }
      }
      kill(getpid(), SIGUSR1)
    }
  }

  @Test func anImpossibleSignalIsRefused() throws {
    let loop = try Loop()
    #expect(throws: UVError.invalidArgument) { try SignalWatcher(on: loop, signal: SIGKILL) {} }
    loop.closeHandles()
  }

  @Test func tellsLivingProcessesFromOthers() throws {
    #expect(ProcessWatcher.isAlive(Int(getpid())))
    #expect(ProcessWatcher.isAlive(1))
    for impossible in [0, -1, Int.max, Int.min, 99_999_999] { #expect(!ProcessWatcher.isAlive(impossible)) }
  }

  @Test func theEndOfAProcessIsNoticed() throws {
    var child: ChildProcess? = try ChildProcess(["cat"])
    let processId = Int(child?.processId ?? 0)
    try runLoop { loop in
      let isKilled = Box(false)
      let watcher = try ProcessWatcher(on: loop, processId: processId, interval: .milliseconds(5)) {
        #expect(isKilled.value)
        loop.stop()
      }
      try loop.after(.milliseconds(20)) {
        isKilled.value = true
        child = nil
        _ = watcher
      }
    }
  }
}
