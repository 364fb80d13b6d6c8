import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport
import Testing

/// Peers nearby, over TLS on this machine.
struct NearbyTests {
  private static let here = PeerAddress(host: "127.0.0.1", port: 0)

  @AutomergeRepo
  private func start(
    _ name: String, passcode: String?, timeout: Duration = .patient
  ) async throws -> (repo: Repo, nearby: PeerToPeerProvider) {
    let repo = Repo(sharePolicy: SharePolicy.agreeable)
    let nearby = PeerToPeerProvider(
      PeerToPeerProviderConfiguration(
        passcode: passcode, address: Self.here, isDiscoverable: false, waitForPeerTimeout: timeout))
    await #expect(throws: PeerToPeerError.notAddedToARepo) { try await nearby.startListening() }
    repo.add(nearby)
    try await nearby.startListening(as: name)
    return (repo, nearby)
  }

  @Test(arguments: ["plum-otter-lamp-violin", nil]) @AutomergeRepo
  func peersThatKnowThePasscodeShareADocument(passcode: String?) async throws {
    let (ana, ben) = (try await start("Ana", passcode: passcode), try await start("Ben", passcode: passcode))
    let place = try #require(ana.nearby.listening)
    #expect(try await ben.nearby.connect(to: place) == ana.nearby.peerId)
    for await peers in ana.repo.peerUpdates() where !peers.isEmpty {
      #expect(peers.map(\.id) == [ben.nearby.peerId] && peers.first?.metadata.name == "Ben")
      guard case .key? = peers.first?.proof else {
        Issue.record("a key is proved")
        break
      }
      break
    }
    #expect(ben.nearby.peeredConnections.map(\.initiated) == [true])
    let hers = try ana.repo.create()
    try hers.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    let his = try await ben.repo.find(id: hers.id, within: .patient)
    try his.change { try $0.put(obj: .ROOT, key: "x", value: .Int(2)) }
    for await _ in hers.statusUpdates() where try hers.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(2)) { break }
    ben.nearby.disconnect(ana.nearby.peerId)
    for await peers in ana.repo.peerUpdates() where peers.isEmpty { break }
    try await ana.repo.shutDown()
    try await ben.repo.shutDown()
    #expect(ana.nearby.listening == nil)
  }

  @Test @AutomergeRepo func aPeerThatSaysNothingOfAPasscodeTimesOut() async throws {
    let open = try await start("Open", passcode: nil)
    let ana = try await start("Ana", passcode: "plum", timeout: .milliseconds(1))
    let place = try #require(open.nearby.listening)
    await #expect(throws: PeerToPeerError.network(.handshake(.timedOut))) { try await ana.nearby.connect(to: place) }
    for end in [ana, open] { try await end.repo.shutDown() }
  }

  @Test @AutomergeRepo func aPeerWithAnotherPasscodeIsTurnedAway() async throws {
    let (ana, eve) = (try await start("Ana", passcode: "plum"), try await start("Eve", passcode: "pear"))
    let place = try #require(ana.nearby.listening)
    await #expect(throws: PeerToPeerError.wrongPasscode(ana.nearby.peerId)) { try await eve.nearby.connect(to: place) }
    #expect(ana.repo.connectedPeers.isEmpty && eve.repo.connectedPeers.isEmpty)
    // And with none at all.
    let open = try await start("Open", passcode: nil)
    _ = try? await open.nearby.connect(to: place)
    #expect(ana.repo.connectedPeers.isEmpty)
    for end in [ana, eve, open] { try await end.repo.shutDown() }
  }
}
