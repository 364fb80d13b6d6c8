import AutomergeRepo
import AutomergeRepoConformance
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Our own network providers before the suite for every network provider.
struct ConformanceTests {
  @Test func peersOverTCPConform() async throws {
    try await TestLoop.run { loop in
      try await NetworkConformance(within: Patience.hang) {
        let clock = PatientClock(loop)
        @AutomergeRepo func end(_ name: String) throws -> (provider: TCPProvider, local: LocalPeer) {
          let identity = Identity()
          let provider = try TCPProvider(loop: loop, clock: clock, identity: identity)
          provider.policy.isKnown = { _ in true }
          return (provider, LocalPeer(peerId: identity.peerId, metadata: PeerMetadata(name: name)))
        }
        let (first, second) = (try end("Ana"), try end("Ben"))
        var address: PeerAddress?
        return NetworkPair(
          .init(first.provider, as: first.local), .init(second.provider, as: second.local), clock: clock,
          maximumByteCount: Frame.maximumByteCount, hasBackPressure: true
        ) {
          let place = try address ?? second.provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0))
          address = place
          _ = try await first.provider.connect(to: place, expecting: second.local.peerId)
        }
      }.run()
    }
  }

  @Test func processesOfOnePersonConform() async throws {
    try await TestLoop.run { loop in
      try await NetworkConformance(within: Patience.hang) {
        let directory = try TemporaryDirectory()
        let clock = PatientClock(loop)
        @AutomergeRepo func end(_ name: String) throws -> NetworkPair.End {
          .init(
            try UnixSocketProvider(home: directory.path, loop: loop, clock: clock),
            as: LocalPeer(peerId: PeerId("ana"), metadata: PeerMetadata(name: name)))
        }
        var pair = NetworkPair(
          try end("One"), try end("Two"), clock: clock, maximumByteCount: Frame.maximumByteCount)
        // The directory goes with the last that holds it.
        pair.tearDown = { withExtendedLifetime(directory) {} }
        return pair
      }.run()
    }
  }
}
