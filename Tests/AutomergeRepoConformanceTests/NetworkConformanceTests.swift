import AutomergeRepo
import AutomergeRepoConformance
import RepoTestSupport
import TestSupport
import Testing

@AutomergeRepo
struct NetworkConformanceTests {
  private static let (ana, ben) = (PeerId("ana"), PeerId("ben"))

  private static func end(_ provider: any NetworkProvider, _ peer: PeerId) -> NetworkPair.End {
    .init(provider, as: LocalPeer(peerId: peer, metadata: PeerMetadata(name: "The person \(peer)")))
  }

  /// In time that the suite moves, so that waiting for what never comes takes no time.
  private static func move(_ clock: ManualClock, in pair: inout NetworkPair) {
    pair.passTime = {
      for _ in 0..<3 { await Task.yield() }
      clock.advance(by: .milliseconds(25))
    }
  }

  private static func suite(of fault: LoopbackProvider.Fault?) -> NetworkConformance {
    NetworkConformance {
      let clock = ManualClock()
      let (first, second) = (LoopbackProvider(clock, fault), LoopbackProvider(clock, fault))
      var pair = NetworkPair(
        end(first, ana), end(second, ben), clock: clock, maximumByteCount: LoopbackProvider.maximumByteCount,
        hasBackPressure: true
      ) { first.connect(to: second) }
      pair.breakConnection = { first.breakConnection() }
      pair.inject = { second.receive($0) }
      move(clock, in: &pair)
      return pair
    }
  }

  @Test func aProviderWithoutFaultsConforms() async throws {
    try await Self.suite(of: nil).run()
  }

  @Test(arguments: LoopbackProvider.Fault.allCases)
  func aFaultIsFoundByItsCheck(fault: LoopbackProvider.Fault) async throws {
    let checks = await Self.suite(of: fault).findings().map(\.check)
    #expect(checks.contains(fault.check.rawValue), "\(fault) was found by \(checks)")
  }

  /// It delivers forged messages, so that tests can look at what a repo makes of them.
  @Test func theNetworkOfOurTestsConformsExceptThatItBelievesSenders() async throws {
    let suite = NetworkConformance {
      let clock = ManualClock()
      let network = SimulatedNetwork(clock: clock, random: RandomSource(SeededGenerator(seed: 15)))
      var pair = NetworkPair(
        Self.end(network.provider(), Self.ana), Self.end(network.provider(), Self.ben), clock: clock
      ) {
        network.connect(Self.ana, Self.ben)
      }
      pair.breakConnection = { network.disconnect(Self.ana, Self.ben) }
      Self.move(clock, in: &pair)
      return pair
    }
    #expect(await suite.findings().map(\.check) == ["forgedSenders"])
  }
}
