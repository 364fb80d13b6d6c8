import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// Long messages of peers we know that do not come to an end.
@Suite(.serialized) struct UnfinishedFramesTests {}

extension UnfinishedFramesTests {
  /// A clock that a test sets forward.
  private final class SetClock: RepoClock {
    private let base: PatientClock
    var ahead: Duration = .zero

    nonisolated init(_ loop: Loop) { base = PatientClock(loop) }

    var now: Duration { base.now + ahead }
    var date: Date { base.date }

    func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
      base.schedule(after: delay, action)
    }
  }

  @Test func anUnfinishedLongMessageMakesRoomForOneThatComes() async throws {
    try await TestLoop.run { loop in
      let clock = SetClock(loop)
      let (host, friend) = (try Station(loop, clock: clock), try Station(loop))
      host.provider.policy.isKnown = { _ in true }
      host.provider.links.unfinished.maximumByteCount = 12 << 20
      _ = try await friend.provider.connect(to: host.address, expecting: host.peerId)

      // The beginning of a message of 20 MiB, and nothing more.
      let raw = try await RawPeer.connect(to: host.address, on: loop)
      try raw.join()
      try await eventually("joined", on: loop) { !raw.messages.isEmpty }
      raw.send([1, 64, 0, 0])
      for _ in 0..<9 { raw.send([UInt8](repeating: 0, count: 1 << 20)) }
      try await eventually("it has come", on: loop) { host.provider.links.unfinished.byteCount >= 9 << 20 }
      clock.ahead = .seconds(20)

      let message = RepoMessage.document(
        .init(
          senderId: friend.peerId, targetId: host.peerId, documentId: try #require(DocumentId(bytes: Array(1...16))),
          content: .sync(Data(count: 8 << 20))))
      friend.provider.send(message, to: host.peerId)
      try await eventually("the friend's message arrives", on: loop) { host.heard.messages == [message] }
      try await eventually("the other one is cut off", on: loop) { raw.isClosed }
      #expect(host.provider.isConnected(friend.peerId) && host.provider.links.unfinished.byteCount == 0)
      for station in [host, friend] { station.provider.stop() }
    }
  }

  @Test func messagesThatComeAtTheSameTimeArrive() async throws {
    try await TestLoop.run { loop in
      let host = try Station(loop)
      host.provider.policy.isKnown = { _ in true }
      let friends = try (0..<3).map { _ in try Station(loop) }
      for friend in friends {
        _ = try await friend.provider.connect(to: host.address, expecting: host.peerId)
        let id = try #require(DocumentId(bytes: Array(1...16)))
        friend.provider.send(
          .document(
            .init(senderId: friend.peerId, targetId: host.peerId, documentId: id, content: .sync(Data(count: 6 << 20)))),
          to: host.peerId)
      }
      try await eventually("all arrive", on: loop) { host.heard.messages.count == 3 }
      #expect(host.heard.disconnected.isEmpty)
      for station in friends + [host] { station.provider.stop() }
    }
  }
}
