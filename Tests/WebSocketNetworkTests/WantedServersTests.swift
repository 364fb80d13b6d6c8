import AutomergeRepo
import PeerTransport
import RepoTestSupport
import TestSupport
import Testing

@testable import WebSocketNetwork

struct WantedServersTests {
  @Test(arguments: [0, 1, 3]) @AutomergeRepo
  func aServerIsGivenUpWhenItsRetriesAreUsedUp(retryCount: Int) throws {
    let clock = ManualClock()
    let servers = WantedServers(
      clock: clock, random: RandomSource(SeededGenerator(seed: 1)), maximumRetryCount: retryCount)
    let url = try #require(WebSocketURL("ws://127.0.0.1:1/"))
    var calls = 0
    servers.onDial = { _, _ in
      calls += 1
      servers.ended(url, .stopped)
    }
    servers.insert(url, token: nil)
    for _ in 0..<100 { clock.advance(by: .seconds(30)) }
    #expect(calls == 1 + retryCount)
    #expect(servers.states[url] == .waiting(.stopped))
    servers.networkImproved()
    #expect(calls == 1 + retryCount)
    // A server that is wanted again starts from the beginning.
    servers.insert(url, token: nil)
    #expect(calls == 2 + retryCount)
  }

  @Test @AutomergeRepo func aConnectionMakesUpForTheCallsThatFailed() throws {
    let clock = ManualClock()
    let servers = WantedServers(clock: clock, random: RandomSource(SeededGenerator(seed: 2)), maximumRetryCount: 2)
    let url = try #require(WebSocketURL("ws://127.0.0.1:1/"))
    var calls = 0
    servers.onDial = { _, _ in
      calls += 1
      // Every second call gets through.
      if calls.isMultiple(of: 2) { servers.connected(url, to: "server") } else { servers.ended(url, .stopped) }
    }
    servers.insert(url, token: nil)
    for _ in 0..<10 {
      clock.advance(by: .seconds(30))
      #expect(servers.states[url] == .connected("server"))
      servers.ended(url, .stopped)
    }
    #expect(calls == 20)
  }
}
