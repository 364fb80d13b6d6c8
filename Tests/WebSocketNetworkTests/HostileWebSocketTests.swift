import AutomergeRepo
import Foundation
import PeerTransport
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import WebSocketNetwork

/// Callers that do not keep to the protocol, while another peer is connected and stays undisturbed.
struct HostileWebSocketTests {
  /// Runs `attack` against a server that a friend is connected to, and then checks that the friend is still heard.
  private func underAttack(
    clock: ManualClock? = nil, limits: WebSocketLimits = WebSocketLimits(),
    _ attack: @AutomergeRepo (Station, PeerAddress, Loop) async throws -> Void
  ) async throws {
    try await TestLoop.run { loop in
      let server = Station("server", loop, clock: clock)
      let address = try server.listen(limits: limits)
      let friend = try await RawClient.joined(as: "friend", to: address, on: loop)
      try await attack(server, address, loop)
      let words = RepoMessage.other(type: "words", fields: ["senderId": "friend"])
      friend.write(RawClient.frame(words.encoded()))
      try await eventually("the friend is heard", on: loop) { server.heard.messages.contains(words) }
      #expect(!server.heard.disconnected.contains(PeerId("friend")))
      server.provider.stop()
      try await eventually("all closed", on: loop) { server.provider.connectionCount == 0 }
    }
  }

  @Test(arguments: [
    "GET /other HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "SSH-2.0-x\n\r\n\r\n", String(repeating: "GET ", count: 4096),
    "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 3000),
  ])
  func otherRequestsGetAnAnswerAndTheEnd(request: String) async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.connect(to: address, on: loop)
      caller.write(request)
      try await eventually("closed", on: loop) { caller.isClosed }
      #expect(caller.text.hasPrefix("HTTP/1.1 4") || caller.received.isEmpty)
      #expect(server.heard.connected == [PeerId("friend")])
    }
  }

  @Test func halfHandshakesEnd() async throws {
    let clock = ManualClock()
    try await underAttack(clock: clock) { server, address, loop in
      let silent = try await RawClient.connect(to: address, on: loop)
      let half = try await RawClient.connect(to: address, on: loop)
      half.write(String(RawClient.upgradeRequest.prefix(60)))
      let mute = try await RawClient.upgraded(to: address, on: loop)
      try await eventually("all there", on: loop) { server.provider.connectionCount == 4 }
      clock.advance(by: PeerHandshake.timeout)
      try await eventually("all closed", on: loop) { silent.isClosed && half.isClosed && mute.isClosed }
    }
  }

  @Test func newcomersMakeRoomForEachOtherAndNotForPeers() async throws {
    let limits = WebSocketLimits(maximumCount: 100, maximumNewcomerCount: 4, maximumNewcomersPerAddress: 3)
    try await underAttack(limits: limits) { server, address, loop in
      var callers: [RawClient] = []
      for _ in 0..<20 { callers.append(try await RawClient.connect(to: address, on: loop)) }
      try await eventually("room was made", on: loop) { callers.filter(\.isClosed).count == 17 }
      #expect(server.provider.connectionCount == 4)
    }
  }

  @Test func beyondTheLimitCallersAreTurnedAway() async throws {
    try await underAttack(limits: WebSocketLimits(maximumCount: 2)) { server, address, loop in
      let second = try await RawClient.joined(as: "second", to: address, on: loop)
      let third = try await RawClient.connect(to: address, on: loop)
      try await eventually("turned away", on: loop) { third.isClosed }
      #expect(!second.isClosed)
    }
  }

  @Test func textIsIgnored() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "texter", to: address, on: loop)
      caller.write(RawClient.frame(Array(#"{"type":"sync"}"#.utf8), opcode: 1))
      caller.write(RawClient.frame(RepoMessage.other(type: "words", fields: [:]).encoded()))
      try await eventually("what follows", on: loop) { server.heard.messages.count == 1 }
      #expect(!caller.isClosed)
    }
  }

  @Test func whatIsNoMessageIsDropped() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "babbler", to: address, on: loop)
      for body in [[], [0xff], [0xbf], [0x83, 1, 2], [0xa1, 0x64], Array("rubbish".utf8)] as [[UInt8]] {
        caller.write(RawClient.frame(body))
      }
      caller.write(RawClient.frame(RepoMessage.other(type: "words", fields: [:]).encoded()))
      try await eventually("what follows", on: loop) { server.heard.messages.count == 1 }
      #expect(!caller.isClosed)
    }
  }

  @Test func aStrangersLongMessageEndsItsConnection() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.upgraded(to: address, on: loop)
      caller.write(RawClient.frame([0], claiming: Frame.maximumByteCountBeforeHandshake + 1))
      try await eventually("closed", on: loop) { caller.isClosed }
      // A close frame with the status 1009.
      #expect(caller.received == [0x88, 2, 0x03, 0xf1])
    }
  }

  @Test func aMessageThatIsTooLongForAnyoneEndsTheConnection() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "boaster", to: address, on: loop)
      caller.write(RawClient.frame([0], claiming: Frame.maximumByteCount + 1))
      try await eventually("closed", on: loop) { caller.isClosed }
      #expect(server.heard.disconnected == [PeerId("boaster")])
    }
  }

  @Test func fragmentsWithoutEndAreLimitedForAllPeersTogether() async throws {
    try await underAttack { server, address, loop in
      server.provider.links.unfinished.maximumByteCount = 6 << 20
      let part = [UInt8](repeating: 1, count: 1 << 18)
      var callers: [RawClient] = []
      for number in 0..<4 {
        let caller = try await RawClient.joined(as: "endless-\(number)", to: address, on: loop)
        caller.write(RawClient.frame(part, isFinal: false))
        for _ in 0..<9 { caller.write(RawClient.frame(part, opcode: 0, isFinal: false)) }
        callers.append(caller)
      }
      try await eventually("some are cut off", on: loop) { callers.contains(where: \.isClosed) }
      #expect(server.provider.links.unfinished.byteCount <= 6 << 20)
    }
  }

  /// None of them is long.
  @Test func unfinishedFramesOfManyPeersAreLimitedTogether() async throws {
    try await underAttack { server, address, loop in
      let unfinished = server.provider.links.unfinished
      unfinished.maximumByteCount = 2 << 20
      var callers: [RawClient] = []
      for number in 0..<12 {
        let caller = try await RawClient.joined(as: "endless-\(number)", to: address, on: loop)
        caller.write(RawClient.frame([UInt8](repeating: 1, count: 300_000), claiming: 1 << 20))
        callers.append(caller)
      }
      try await eventually("some are cut off", on: loop) { callers.count(where: \.isClosed) >= 6 }
      #expect(unfinished.byteCount <= 2 << 20)
      for caller in callers { caller.close() }
      try await eventually("nothing is left", on: loop) { unfinished.byteCount == 0 }
    }
  }

  @Test func aFrameWithARealCompressionBitEndsTheConnection() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "deflater", to: address, on: loop)
      // The first reserved bit: a message compressed by permessage-deflate, which neither side has negotiated.
      caller.write([0xc2, 0x85, 0, 0, 0, 0, 0xaa, 0x56, 0x4a, 0x04, 0x00])
      try await eventually("closed", on: loop) { caller.isClosed }
      #expect(caller.received == [0x88, 2, 0x03, 0xea])
    }
  }

  @Test func aFloodOfPingsWithoutReadingEnds() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "pinger", to: address, on: loop)
      caller.pauseReading()
      let pings = (0..<500).flatMap { _ in RawClient.frame([UInt8](repeating: 7, count: 125), opcode: 9) }
      var rounds = 0
      try await eventually("cut off", on: loop) {
        // What the caller's own system has not taken yet is not sent more often.
        if rounds < 2000, caller.queuedByteCount < 1 << 20 { caller.write(pings) }
        rounds += 1
        return server.heard.disconnected == [PeerId("pinger")]
      }
    }
  }

  @Test func aReaderThatDoesNotReadIsToldToBeCrowdedAndIsCutOff() async throws {
    try await underAttack { server, address, loop in
      let caller = try await RawClient.joined(as: "slow", to: address, on: loop)
      caller.pauseReading()
      let big = RepoMessage.other(type: "words", fields: ["data": .bytes(Data(count: 4 << 20))])
      for _ in 0..<40 { server.provider.send(big, to: PeerId("slow")) }
      try await eventually("cut off", on: loop) { server.heard.disconnected == [PeerId("slow")] }
      #expect(server.provider.links.unsent.byteCount < 1 << 20)
    }
  }

  @Test func aPeerThatAnswersNoPingsIsGone() async throws {
    let clock = ManualClock()
    try await TestLoop.run { loop in
      let server = Station("server", loop, clock: clock)
      let address = try server.listen()
      let caller = try await RawClient.joined(as: "ben", to: address, on: loop)
      clock.advance(by: WebSocketProvider.pace.pingAfter)
      try await eventually("a ping", on: loop) { caller.received == [0x89, 0] }
      caller.write(RawClient.frame([], opcode: 10))
      // A pong is no message, so nothing tells here that it has come but the next message.
      caller.write(RawClient.frame(RepoMessage.other(type: "words", fields: [:]).encoded()))
      try await eventually("an answer", on: loop) { server.heard.messages.count == 1 }
      var passed = Duration.zero
      while passed < WebSocketProvider.pace.hungAfter * 2, server.provider.isConnected(PeerId("ben")) {
        clock.advance(by: .seconds(1))
        passed += .seconds(1)
      }
      try await eventually("gone", on: loop) { server.heard.disconnected == [PeerId("ben")] }
      #expect(passed >= WebSocketProvider.pace.deadAfter)
      #expect(passed <= WebSocketProvider.pace.hungAfter + .seconds(5))
      server.provider.stop()
    }
  }
}
