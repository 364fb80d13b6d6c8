import Testing
import UV

struct TimerTests {
  @Test func timersFireInTheOrderOfTheirTimes() throws {
    try runLoop { loop in
      let order = Box<[Int]>([])
      for delay in [30, 10, 20, 0] { try loop.after(.milliseconds(delay)) { order.value.append(delay) } }
      try loop.after(.milliseconds(40)) {
        #expect(order.value == [0, 10, 20, 30])
        loop.stop()
      }
    }
  }

  @Test func aRepeatingTimerFiresUntilItIsStopped() throws {
    try runLoop { loop in
      let count = Box(0)
      let timer = try Timer(on: loop)
      timer.onFire = { [unowned timer] in
        count.value += 1
        #expect(timer.isRunning)
        if count.value == 3 {
          timer.stop()
          #expect(!timer.isRunning)
          _ = try? loop.after(.milliseconds(20)) {
            #expect(count.value == 3)
            loop.stop()
          }
        }
      }
      timer.start(after: .milliseconds(1), repeating: .milliseconds(2))
    }
  }

  @Test func timeIsCountedFromTheStartAndRoundedUp() throws {
    try runLoop { loop in
      let start = MonotonicTime.now
      try loop.after(.microseconds(1_500)) {
        #expect(MonotonicTime.now - start >= .milliseconds(1.5))
        loop.stop()
      }
    }
  }

  /// Each starts itself anew when it is already time for the others.
  @Test(arguments: [0, 1]) func timersThatAreAlwaysDueDoNotKeepSocketsWaiting(delay: Int) throws {
    try runLoop { loop in
      for _ in 0..<3 {
        let timer = try Timer(on: loop)
        timer.onFire = { [unowned timer] in
          let until = MonotonicTime.now + .milliseconds(3)
          while MonotonicTime.now < until {}
          timer.start(after: .milliseconds(delay))
        }
        timer.start(after: .zero)
      }
      let listener = try TCPListener(on: loop, host: "127.0.0.1", port: 0) { _ in loop.stop() }
      TCPStream.connect(on: loop, host: "127.0.0.1", port: try #require(listener.address?.port)) { _ in }
    }
  }

  @Test func extremeTimesAreTaken() throws {
    try runLoop { loop in
      let forever = try Timer(on: loop) { Issue.record("fired") }
      forever.start(after: .seconds(Int64.max) * 2, repeating: .seconds(Int64.max))
      try loop.after(.seconds(-5)) { loop.stop() }
    }
  }

  @Test func aClosedTimerDoesNothing() throws {
    try runLoop { loop in
      let closed = Box(0)
      let timer = try Timer(on: loop) { Issue.record("fired") }
      timer.onClose = { _ in closed.value += 1 }
      timer.start(after: .zero)
      timer.close()
      timer.close()
      timer.start(after: .zero)
      timer.stop()
      try loop.after(.milliseconds(5)) {
        #expect(closed.value == 1)
        timer.start(after: .zero)
        timer.close()
        #expect(!timer.isOpen && !timer.isRunning)
        loop.stop()
      }
    }
  }

  @Test func aTimerWithoutReferencesStillFires() throws {
    try runLoop { loop in
      var timer: Timer? = try Timer(on: loop) { loop.stop() }
      timer?.start(after: .milliseconds(1))
      timer = nil
    }
  }
}
