import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// The network on which the repos of tests and simulations meet: each of its connections is a stream, as TCP's are.
@AutomergeRepo
struct SimulatedNetworkTests {
  @Test func whatIsSentWhileAMessageIsHeldUpStaysBehindAllThatWereSentBeforeIt() throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
    let (ana, ben) = (PeerId("ana"), PeerId("mute"))
    let repo = world.start("ana")
    let mute = MutePeer(connectedTo: ana, in: world)
    var numbers: [Int] = []
    world.network.onDelivery = { message, _, _ in
      if case .other("number", let fields) = message { numbers.append(fields["number"]?.integer ?? -1) }
    }
    world.network.isHeldUntil = { [clock = world.clock] _, _ in
      (Duration.milliseconds(20)..<Duration.milliseconds(100)).contains(clock.now) ? .milliseconds(100) : nil
    }
    // Some are held up on their way while others are still being sent.
    for number in 0..<60 {
      repo.send(type: "number", fields: ["number": .integer(number)], to: ben)
      world.clock.advance(by: .milliseconds(1))
    }
    #expect(numbers.count < 20)
    world.clock.advance(by: .seconds(1))
    #expect(numbers == Array(0..<60))
    withExtendedLifetime(mute) {}
  }
}
