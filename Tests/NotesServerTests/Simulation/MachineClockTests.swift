import AutomergeRepo
import RepoTestSupport
import Testing

@testable import ServiceSimulation

/// The time of a simulated machine that sleeps.
@AutomergeRepo struct MachineClockTests {
  private let base = ManualClock()

  @Test func whatIsPlannedBeforeASleepAndAfterItForOneTimeKeepsItsOrder() {
    let clock = MachineClock(base)
    var ran: [String] = []
    clock.schedule(after: .seconds(10)) { ran.append("before") }
    clock.fallAsleep(for: .seconds(4)) {}
    base.advance(by: .seconds(5))
    #expect(clock.now == .seconds(1))
    clock.schedule(after: .seconds(9)) { ran.append("after") }
    base.advance(by: .seconds(8))
    #expect(ran == [])
    base.advance(by: .seconds(1))
    #expect(ran == ["before", "after"])
  }

  @Test func whatIsCancelledDoesNotRunAndHoldsNothingUp() {
    let clock = MachineClock(base)
    var ran: [Int] = []
    let timers = (0..<4).map { number in clock.schedule(after: .seconds(2)) { ran.append(number) } }
    timers[1].cancel()
    clock.fallAsleep(for: .seconds(1)) {}
    base.advance(by: .seconds(3))
    timers[0].cancel()
    base.advance(by: .seconds(1))
    #expect(ran == [0, 2, 3])
  }
}
