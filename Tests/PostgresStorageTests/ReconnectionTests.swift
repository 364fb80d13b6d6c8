import TestSupport
import Testing

@testable import PostgresStorage

struct ReconnectionTests {
  /// The pause that an effect asks for.
  private func pause(_ effects: [Reconnection.Effect]) throws -> Duration {
    guard effects.count == 1, case .startTimer(let pause) = effects[0] else {
      throw Unexpected(effects: effects)
    }
    return pause
  }

  private struct Unexpected: Error { let effects: [Reconnection.Effect] }

  @Test func pausesGrowToASecondAndAreNeverAllTheSame() throws {
    var random = SeededGenerator(seed: 7)
    var reconnection = Reconnection()
    #expect(reconnection.receive(.started, using: &random) == [.connect])
    var limit = Reconnection.firstPause
    var pauses: Set<Duration> = []
    for _ in 0..<12 {
      let pause = try pause(reconnection.receive(.failed, using: &random))
      #expect(pause >= limit / 2 && pause <= limit)
      pauses.insert(pause)
      #expect(reconnection.receive(.timerFired, using: &random) == [.connect])
      limit = min(limit * 2, .seconds(1))
    }
    #expect(pauses.count == 12)
  }

  @Test func aServerThatTakesConnectionsAndEndsThemIsNotCalledEverFaster() throws {
    var random = SeededGenerator(seed: 8)
    var reconnection = Reconnection()
    _ = reconnection.receive(.started, using: &random)
    for _ in 0..<6 {
      #expect(reconnection.receive(.connected, using: &random) == [])
      _ = try pause(reconnection.receive(.lost, using: &random))
      _ = reconnection.receive(.timerFired, using: &random)
    }
    _ = reconnection.receive(.connected, using: &random)
    #expect(try pause(reconnection.receive(.lost, using: &random)) >= .milliseconds(500))
    _ = reconnection.receive(.timerFired, using: &random)
    _ = reconnection.receive(.connected, using: &random)
    #expect(reconnection.receive(.answered, using: &random) == [])
    #expect(try pause(reconnection.receive(.lost, using: &random)) <= Reconnection.firstPause)
  }

  @Test func aConnectionThatComesAfterStoppingIsClosed() {
    var random = SeededGenerator(seed: 9)
    var reconnection = Reconnection()
    _ = reconnection.receive(.started, using: &random)
    #expect(reconnection.receive(.stopped, using: &random) == [.close])
    #expect(reconnection.receive(.connected, using: &random) == [.close])
    #expect(reconnection.receive(.timerFired, using: &random) == [])
  }

  @Test func aSlowServerIsGivenMoreTimeEachTimeUntilItHasAnswered() {
    var silence = SilenceLimit()
    for _ in 0..<10 { silence.exceeded() }
    #expect(silence.limit == .seconds(160))
    silence.succeeded()
    #expect(silence.limit == .seconds(5))
  }
}
