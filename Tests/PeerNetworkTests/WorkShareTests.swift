import RepoTestSupport
import Testing

@testable import PeerNetwork

/// How the loop's time is shared among links.
@Suite struct WorkShareTests {
  @Test func aLinkThatSaysLittleNeverRestsAndOneThatSaysMuchHasHalfOfTheTime() {
    var quiet = LinkWork()
    for second in 0..<100 {
      let rests = quiet.worked(.milliseconds(2), at: .milliseconds(10 * second))
      #expect(!rests)
    }
    var busy = LinkWork()
    var (now, worked): (Duration, Duration) = (.zero, .zero)
    while now < .seconds(10) {
      now += .milliseconds(1)
      worked += .milliseconds(1)
      if busy.worked(.milliseconds(1), at: now) {
        now += busy.used
        busy.rested()
      }
    }
    #expect(worked > .seconds(4) && worked < .milliseconds(6100), "\(worked)")
  }

  @Test func linksThatRestGoOnOneAfterTheOther() async throws {
    try await TestLoop.run { _ in
      let share = WorkShare()
      let rests = (0..<4).map { _ in share.rest(after: .milliseconds(10), at: .seconds(1)) }
      #expect(rests == [.milliseconds(10), .milliseconds(20), .milliseconds(30), .milliseconds(40)])
      #expect(
        share.rest(after: .milliseconds(10), at: .seconds(2)) == .milliseconds(10), "nobody pays for a quiet time")
    }
  }
}
