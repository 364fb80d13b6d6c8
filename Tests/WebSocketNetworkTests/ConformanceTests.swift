import AutomergeRepo
import AutomergeRepoConformance
import PeerTransport
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import WebSocketNetwork

/// The provider before the suite for every network provider, in both roles.
struct ConformanceTests {
  @Test func aCallerAndAServerConform() async throws { try await conform(secure: false) }

  @Test func encryptedTheyConformToo() async throws { try await conform(secure: true) }

  private func conform(secure: Bool) async throws {
    let authority = secure ? try TestAuthority() : nil
    defer { withExtendedLifetime(authority) {} }
    let (authorityFile, certificate) = (authority?.authorityFile, authority?.certificate)
    try await TestLoop.run { loop in
      try await NetworkConformance(within: Patience.hang) {
        let clock = PatientClock(loop)
        @AutomergeRepo func end(_ name: String) -> WebSocketProvider {
          WebSocketProvider(loop: loop, clock: clock, authorityFile: authorityFile)
        }
        let (first, second) = (end("Ana"), end("Ben"))
        let local = ["Ana", "Ben"].map { LocalPeer(peerId: PeerId($0), metadata: PeerMetadata(name: $0)) }
        var url: WebSocketURL?
        return NetworkPair(
          .init(first, as: local[0]), .init(second, as: local[1]), clock: clock,
          maximumByteCount: Frame.maximumByteCount, hasBackPressure: true
        ) {
          if url == nil {
            let place = try second.listen(at: PeerAddress(host: "127.0.0.1", port: 0), certificate: certificate) {
              request in request.token == "key" ? .accept(.token("key")) : .refuse
            }
            url = WebSocketURL("\(secure ? "wss://localhost" : "ws://127.0.0.1"):\(place.port)/")
          }
          // The first time; a lost connection is made again without being asked.
          if let url { first.connect(to: url, token: "key") }
        }
      }.run()
    }
  }
}
