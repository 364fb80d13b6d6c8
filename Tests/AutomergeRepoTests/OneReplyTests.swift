import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing

struct OneReplyTests {
  @AutomergeRepo @Test func theFirstAnswerCounts() async {
    let value = await OneReply.wait(otherwise: 0) { reply in
      reply.resume(returning: 1)
      reply.resume(returning: 2)
    }
    #expect(value == 1)
  }

  @AutomergeRepo @Test func aWaitThatCanNoLongerBeAnsweredEnds() async {
    #expect(await OneReply.wait(otherwise: 0) { _ in } == 0)
  }

  @AutomergeRepo @Test func aPauseEndsWithItsClock() async {
    final class EndedClock: RepoClock {
      var now: Duration { .zero }
      var date: Date { Date() }
      /// Lets go of the action, as a loop that is over does.
      func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
        Dropped()
      }
      final class Dropped: ScheduledAction { func cancel() {} }
    }
    #expect(await EndedClock().pause(for: .seconds(1)) == false)
  }
}
