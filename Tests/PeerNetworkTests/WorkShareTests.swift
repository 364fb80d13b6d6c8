import RepoTestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// How the loop's time is shared among links.
struct WorkShareTests {
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
      if busy.worked(.milliseconds(1), at: now) { now += busy.takeRest(after: .milliseconds(1)) }
    }
    #expect(worked > .seconds(4) && worked < .milliseconds(6100), "\(worked)")
  }

  /// For a fast typist the rest was once as long as all that the link had done since the start, half a second and more; later 18 ms.
  @Test func aLinkOfManySmallMessagesRestsOftenAndNeverForLong() {
    var typist = LinkWork()
    var now = Duration.zero
    for _ in 0..<1000 {
      now += .milliseconds(10)
      let rests = typist.worked(.milliseconds(4), at: now)
      #expect(!rests)
    }
    var (worked, rested): (Duration, Duration) = (.zero, .zero)
    for _ in 0..<10_000 {
      now += .microseconds(100)
      worked += .microseconds(100)
      guard typist.worked(.microseconds(100), at: now) else { continue }
      let rest = typist.takeRest(after: .microseconds(100))
      #expect(rest > .zero && rest <= LinkWork.maximumRest, "\(rest)")
      now += rest
      rested += rest
    }
    #expect(rested > worked * 0.9, "it has half of the time all the same")
  }

  /// The control: a message that takes long is rested for in one go.
  @Test func aLinkOfLongMessagesRestsAsLongAsEachTook() {
    var link = LinkWork()
    for (time, now) in [(100, 100), (50, 250)] {
      let rests = link.worked(.milliseconds(time), at: .milliseconds(now))
      let rest = link.takeRest(after: .milliseconds(time))
      #expect(rests && rest >= .milliseconds(time) && rest <= .milliseconds(100), "\(rest)")
    }
  }

  @Test func linksThatRestGoOnOneAfterTheOther() async throws {
    try await TestLoop.run { _ in
      let share = WorkShare(clock: ManualClock())
      var links = [LinkWork](repeating: LinkWork(), count: 4)
      var rests = links.indices.map { share.worked(.milliseconds(10), by: &links[$0], at: .seconds(1)) }
      #expect(rests == [.milliseconds(10), .milliseconds(20), .milliseconds(30), .milliseconds(40)])
      rests = [share.worked(.milliseconds(10), by: &links[0], at: .seconds(2))]
      #expect(rests == [.milliseconds(10)], "a quiet time costs nothing")
    }
  }

  @Test func manyLinksTogetherHaveHardlyMoreAtOnceThanOne() async throws {
    try await TestLoop.run { _ in
      let share = WorkShare(clock: ManualClock())
      var links = [LinkWork](repeating: LinkWork(), count: 28)
      // One turn of the loop, in which all of them have much to say.
      var (now, worked) = (Duration.seconds(1), Duration.zero)
      for index in links.indices {
        var rests = false
        while !rests {
          now += .milliseconds(1)
          worked += .milliseconds(1)
          rests = share.worked(.milliseconds(1), by: &links[index], at: now) != nil
        }
      }
      // Every moment that passes gives half of itself back. Links that are alone have 16 ms each, these 448 together.
      #expect(worked <= .milliseconds(16 + 28 * 4), "\(worked)")
      // The control: a typist among them is not made to rest.
      var typist = LinkWork()
      for _ in 0..<50 {
        now += .milliseconds(50)
        let noise = share.worked(.milliseconds(30), by: &links[0], at: now)
        let rest = share.worked(.milliseconds(1), by: &typist, at: now)
        #expect(noise != nil && rest == nil)
      }
    }
  }

  @Test func aCrowdOfNewcomersWaitsAndOneDoesNot() async throws {
    try await TestLoop.run { _ in
      let share = WorkShare(clock: ManualClock())
      let rests = (0..<40).map { _ in
        var link = LinkWork()
        return share.worked(.milliseconds(1), by: &link, isNew: true, at: .seconds(1))
      }
      #expect(rests.prefix(8).allSatisfy { $0 == nil })
      #expect(rests.dropFirst(8).allSatisfy { $0 != nil })
      #expect(rests.compactMap(\.self).max() ?? .zero <= .milliseconds(32))
      // Known peers go on meanwhile, and a little later so does a newcomer.
      var known = LinkWork(), newcomer = LinkWork()
      #expect(share.worked(.milliseconds(1), by: &known, at: .seconds(1)) == nil)
      #expect(share.worked(.milliseconds(1), by: &newcomer, isNew: true, at: .milliseconds(1100)) == nil)
    }
  }
}
