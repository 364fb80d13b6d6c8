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
    servers.onDial = { call, _ in
      calls += 1
      servers.ended(call, .stopped)
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
    var last: WantedServers.Call?
    servers.onDial = { call, _ in
      (calls, last) = (calls + 1, call)
      // Every second call gets through.
      if calls.isMultiple(of: 2) { servers.connected(call, to: "server") } else { servers.ended(call, .stopped) }
    }
    servers.insert(url, token: nil)
    for _ in 0..<10 {
      clock.advance(by: .seconds(30))
      #expect(servers.states[url] == .connected("server"))
      servers.ended(try #require(last), .stopped)
    }
    #expect(calls == 20)
  }

  @Test @AutomergeRepo func whatTheCallsOfAnEarlierTokenLeadToCountsForNothing() throws {
    let clock = ManualClock()
    let servers = WantedServers(clock: clock, random: RandomSource(SeededGenerator(seed: 3)), maximumRetryCount: 0)
    let url = try #require(WebSocketURL("ws://127.0.0.1:1/"))
    var calls: [(call: WantedServers.Call, token: String?)] = []
    servers.onDial = { calls.append(($0, $1)) }
    servers.insert(url, token: "one")
    servers.insert(url, token: "two", isHeld: true)
    let first = try #require(calls.first?.call)
    #expect(calls.count == 1)
    servers.connected(first, to: "server")
    servers.ended(first, .stopped)
    servers.networkImproved()
    #expect(servers.states[url] == .connecting)
    #expect(calls.count == 1)
    servers.release(url)
    servers.release(url)
    #expect(calls.map(\.token) == ["one", "two"])
    let second = try #require(calls.last?.call)
    servers.connected(second, to: "server")
    servers.ended(first, .stopped)
    #expect(servers.states[url] == .connected("server"))
    servers.insert(url, token: "three")
    servers.ended(second, .stopped)
    #expect(servers.states[url] == .connecting)
    #expect(calls.count == 3)
  }

  /// News about the network may cause several calls at once.
  @Test @AutomergeRepo func aConnectionThatANewerOneHasReplacedIsNotMissed() throws {
    let clock = ManualClock()
    let servers = WantedServers(clock: clock, random: RandomSource(SeededGenerator(seed: 4)))
    let url = try #require(WebSocketURL("ws://127.0.0.1:1/"))
    var calls: [WantedServers.Call] = []
    servers.onDial = { call, _ in calls.append(call) }
    servers.insert(url, token: nil)
    servers.networkImproved()
    try #require(calls.count == 2)
    servers.connected(calls[0], to: "server")
    servers.connected(calls[1], to: "server")
    servers.ended(calls[0], .stopped)
    #expect(servers.states[url] == .connected("server"))
    clock.advance(by: .seconds(60))
    #expect(calls.count == 2)
    servers.ended(calls[1], .stopped)
    #expect(servers.states[url] == .waiting(.stopped))
    clock.advance(by: .seconds(60))
    #expect(calls.count == 3)
  }
}
