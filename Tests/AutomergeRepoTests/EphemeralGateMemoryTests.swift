import Foundation
import Testing

@testable import AutomergeRepo

/// How much is remembered of those who say something.
struct EphemeralGateMemoryTests {
  private func message(_ sender: String) throws -> RepoMessage.EphemeralMessage {
    let document = try #require(DocumentId(bytes: Array(1...16)))
    return .init(
      senderId: PeerId(sender), targetId: PeerId("me"), documentId: document, count: 1, sessionId: "s", data: Data([1]))
  }

  @Test func whatHundredsOfPeersHaveSaidIsKnownAgainWhenARelayRepeatsIt() throws {
    var gate = EphemeralGate()
    let peers = (0..<900).map { "peer \($0)" }, relay = PeerId("relay")
    for peer in peers { #expect(gate.accepts(try message(peer), via: PeerId(peer), at: .zero)) }
    #expect(gate.streamCount == peers.count)
    for peer in peers { #expect(!gate.accepts(try message(peer), via: relay, at: .zero), "\(peer)") }
    #expect(gate.accepts(try message("another"), via: relay, at: .zero), "the relay may still pass on what is new")
  }
}
