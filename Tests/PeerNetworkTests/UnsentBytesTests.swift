import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What waits for peers that do not read.
@Suite(.serialized) struct UnsentBytesTests {}

extension UnsentBytesTests {
  /// A sender, and peers it knows, which read only when they are told to.
  @AutomergeRepo
  private final class Crowd {
    let sender: Station
    let readers: [Station]
    private let loop: Loop

    init(_ count: Int, on loop: Loop) async throws {
      self.loop = loop
      sender = try Station(loop)
      readers = try (0..<count).map { _ in try Station(loop) }
      sender.provider.policy.isKnown = { _ in true }
      for reader in readers {
        reader.provider.policy.isKnown = { _ in true }
        _ = try await sender.provider.connect(to: reader.address, expecting: reader.peerId)
        let sender = sender
        try await eventually("both know", on: loop) { reader.provider.isConnected(sender.peerId) }
        reader.provider.setReading(false, from: sender.peerId)
      }
    }

    func send(_ byteCount: Int, to reader: Station) throws {
      let id = try #require(DocumentId(bytes: Array(1...16)))
      sender.provider.send(
        .document(
          .init(
            senderId: sender.peerId, targetId: reader.peerId, documentId: id, content: .sync(Data(count: byteCount)))),
        to: reader.peerId)
    }

    func unsent(to reader: Station) -> Int { sender.provider.links[reader.peerId]?.unsentByteCount ?? 0 }

    /// Sends a little at a time until something waits.
    func fill(_ reader: Station) async throws {
      for _ in 0..<400 where unsent(to: reader) == 0 {
        try send(128 << 10, to: reader)
        await withCheckedContinuation { continuation in loop.later { continuation.resume() } }
      }
    }

    func stop() { for station in readers + [sender] { station.provider.stop() } }
  }

  @Test func whereMuchWaitsForOthersALittleIsEnoughToBeToldNothingNew() async throws {
    try await TestLoop.run { loop in
      let crowd = try await Crowd(3, on: loop)
      let (first, second, third) = (crowd.readers[0], crowd.readers[1], crowd.readers[2])
      try await crowd.fill(first)
      try crowd.send(256 << 10, to: first)
      try await eventually("sent", on: loop) { crowd.unsent(to: first) > BackPressure.crowdedByteCountAmongMany }
      #expect(crowd.unsent(to: first) < BackPressure.crowdedByteCount)
      #expect(crowd.sender.heard.crowded[first.peerId] == nil, "a little waits, and for no other peer")
      try await crowd.fill(second)
      try crowd.send(UnsentBytes.muchByteCount, to: second)
      try await crowd.fill(third)
      try crowd.send(256 << 10, to: third)
      #expect(crowd.unsent(to: third) < BackPressure.crowdedByteCount)
      try await eventually("the third is told nothing new", on: loop) {
        crowd.sender.heard.crowded[third.peerId] == true && crowd.sender.heard.crowded[second.peerId] == true
      }
      // A peer that reads again gets all of it and is told what is new.
      for reader in crowd.readers { reader.provider.setReading(true, from: crowd.sender.peerId) }
      try await eventually("all is read", on: loop) {
        crowd.sender.heard.crowded.values.allSatisfy { !$0 } && crowd.readers.allSatisfy { crowd.unsent(to: $0) == 0 }
      }
      #expect(crowd.sender.heard.disconnected.isEmpty)
      crowd.stop()
    }
  }

  @Test func ofAllThatDoNotReadTheSlowestIsCutOffAndTheOthersStay() async throws {
    try await TestLoop.run { loop in
      let crowd = try await Crowd(3, on: loop)
      crowd.sender.provider.links.unsent.maximumByteCount = 24 << 20
      try crowd.send(9 << 20, to: crowd.readers[0])
      try crowd.send(13 << 20, to: crowd.readers[1])
      try crowd.send(256 << 10, to: crowd.readers[2])
      #expect(crowd.readers.allSatisfy { crowd.sender.provider.isConnected($0.peerId) })
      try crowd.send(16 << 20, to: crowd.readers[1])
      try await eventually("one is cut off", on: loop) { !crowd.sender.heard.disconnected.isEmpty }
      #expect(crowd.sender.provider.links.unsent.byteCount <= 24 << 20)
      #expect(crowd.sender.heard.disconnected == [crowd.readers[1].peerId])
      #expect([0, 2].allSatisfy { crowd.sender.provider.isConnected(crowd.readers[$0].peerId) })
      crowd.stop()
    }
  }
}
