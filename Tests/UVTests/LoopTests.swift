import Testing
import UV

struct LoopTests {
  @Test func postedWorkRunsInItsOrder() throws {
    try runLoop { loop in
      let order = Shared<[Int]>([])
      for number in 0..<1_000 { loop.post { order.change { $0.append(number) } } }
      loop.post { #expect(order.value == Array(0..<1_000)) }
      loop.stop()
    }
  }

  @Test func workPostedByThreadsRunsInTheOrderOfEach() async throws {
    let loop = try Loop()
    try loop.runOnNewThread()
    defer { loop.stop() }
    let seen = Shared<[[Int]]>(Array(repeating: [], count: 4))
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<2_000 { loop.post { seen.change { $0[thread].append(number) } } }
        }
      }
    }
    await withCheckedContinuation { continuation in loop.post { continuation.resume() } }
    #expect(seen.value == Array(repeating: Array(0..<2_000), count: 4))
  }

  @Test func whatIsOpenedWhileTheLoopClosesIsClosedToo() async throws {
    let loop = try Loop()
    try loop.runOnNewThread()
    await withCheckedContinuation { continuation in
      loop.post {
        do {
          try Timer(on: loop).onClose = { _ in
            do {
              let late = try Timer(on: loop)
              late.onClose = { _ in continuation.resume() }
              late.start(after: .seconds(60), repeating: .seconds(60))
            } catch { Issue.record(error) }
          }
        } catch { Issue.record(error) }
        loop.stop()
      }
    }
  }

  @Test func actorsRunOnTheLoopAndTasksComeBackToIt() async throws {
    let loop = try Loop()
    try loop.runOnNewThread()
    defer { loop.stop() }
    let resident = Resident(on: loop)
    for number in 0..<100 { #expect(await resident.add(number)) }
    #expect(await resident.values == Array(0..<100))

    let stayed = await resident.isBackAfter { await Task.detached { loop.isOnLoop }.value }
    #expect(stayed == [true, false, true])
  }

  @Test func aTaskThatAwaitsItsOwnActorKeepsItsTurn() async throws {
    let loop = try Loop()
    try loop.runOnNewThread()
    defer { loop.stop() }
    let kept = await Resident(on: loop).keepsItsTurn()
    #expect(kept.inContinuation && kept.inMethod)
  }

  /// Work that makes new work, each piece of which takes milliseconds, leaves timers and sockets their turn.
  @Test func longWorkThatMakesNewWorkDoesNotKeepTheLoop() throws {
    try runLoop { loop in
      let count = Box(0)
      func work() {
        count.value += 1
        let end = MonotonicTime.now + .milliseconds(3)
        while MonotonicTime.now < end {}
        if count.value < 64 { loop.later { work() } }
      }
      try loop.after(.milliseconds(1)) { work() }
      try loop.after(.milliseconds(2)) {
        #expect(count.value < 12)
        loop.stop()
      }
    }
  }

  @Test func callbacksMayEnterTheActorAtOnce() throws {
    try runLoop { loop in
      let resident = Resident(on: loop)
      try loop.after(.zero) {
        let isOnLoop = resident.assumeIsolated { $0.add(1) }
        #expect(isOnLoop)
        loop.stop()
      }
    }
  }

  @Test func aTaskThatNeverRestsDoesNotHoldTimersBack() throws {
    try runLoop { loop in
      let isDone = Shared(false)
      let resident = Resident(on: loop)
      Task { await resident.yieldUntil(isDone) }
      try loop.after(.milliseconds(5)) { isDone.change { $0 = true } }
    }
  }

  @Test func laterRunsAfterTheCallbackThatIsRunning() throws {
    try runLoop { loop in
      let order = Box<[String]>([])
      try loop.after(.zero) {
        loop.later {
          order.value.append("later")
          #expect(order.value == ["now", "later"])
          loop.stop()
        }
        order.value.append("now")
      }
    }
  }

  @Test func closingHandlesReportsEachOnce() throws {
    let loop = try Loop()
    let closed = Box(0)
    for _ in 0..<5 {
      let timer = try Timer(on: loop)
      timer.start(after: .seconds(100))
      timer.onClose = { reason in
        #expect(reason == .cancelled)
        closed.value += 1
      }
    }
    loop.closeHandles()
    loop.closeHandles()
    #expect(closed.value == 5)
  }

  @Test func monotonicTimeGoesForward() {
    let first = MonotonicTime.now
    #expect(MonotonicTime.now >= first)
    #expect(first > .zero)
  }

  @Test func errorsHaveTheirNamesAndWords() {
    #expect(UVError.brokenPipe.name == "EPIPE")
    #expect(UVError.brokenPipe.description == "EPIPE: broken pipe")
    #expect(UVError(rawValue: -99_999).name.contains("99999"))
  }
}
