import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

@Suite struct TCPProviderTests {
  @AutomergeRepo
  private func make(_ name: String, _ loop: Loop, clock: (any RepoClock)? = nil) throws -> (
    TCPProvider, Listener, PeerAddress
  ) {
    let provider = TCPProvider(loop: loop, clock: clock ?? PatientClock(loop))
    provider.connectTimeout = .seconds(60)
    let listener = Listener()
    provider.start(as: LocalPeer(peerId: PeerId(name), metadata: PeerMetadata(name: name)), delegate: listener)
    return (provider, listener, try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0)))
  }

  @Test func twoMeetAndTalkBothWays() async throws {
    try await TestLoop.run { loop in
      let (one, heardByOne, _) = try self.make("one", loop)
      let (two, heardByTwo, address) = try self.make("two", loop)
      #expect(try await one.connect(to: address) == PeerId("two"))
      try await eventually("both know", on: loop) { heardByTwo.connected == [PeerId("one")] }
      #expect(heardByOne.connected == [PeerId("two")])
      for number in 0..<100 {
        one.send(.other(type: "x", fields: ["n": .integer(number)]), to: PeerId("two"))
        two.send(.other(type: "y", fields: ["n": .integer(number)]), to: PeerId("one"))
      }
      try await eventually("all arrive", on: loop) {
        heardByOne.messages.count == 100 && heardByTwo.messages.count == 100
      }
      #expect(heardByTwo.messages == (0..<100).map { .other(type: "x", fields: ["n": .integer($0)]) })
      one.disconnect(PeerId("two"))
      try await eventually("both hear of it", on: loop) {
        heardByOne.disconnected == [PeerId("two")] && heardByTwo.disconnected == [PeerId("one")]
      }
      one.stop()
      two.stop()
    }
  }

  @Test func twoThatCallEachOtherKeepOneConnection() async throws {
    try await TestLoop.run { loop in
      for _ in 0..<10 {
        let (one, heardByOne, addressOfOne) = try self.make("one", loop)
        let (two, heardByTwo, addressOfTwo) = try self.make("two", loop)
        async let first = one.connect(to: addressOfTwo)
        async let second = two.connect(to: addressOfOne)
        _ = try? await first
        _ = try? await second
        try await eventually("one connection is left", on: loop) {
          one.isConnected(PeerId("two")) && two.isConnected(PeerId("one"))
            && heardByOne.connected.count - heardByOne.disconnected.count == 1
            && heardByTwo.connected.count - heardByTwo.disconnected.count == 1 && one.linkCount == 1
            && two.linkCount == 1
        }
        one.send(.other(type: "x", fields: [:]), to: PeerId("two"))
        two.send(.other(type: "y", fields: [:]), to: PeerId("one"))
        try await eventually("it works both ways", on: loop) {
          !heardByOne.messages.isEmpty && !heardByTwo.messages.isEmpty
        }
        one.stop()
        two.stop()
        try await eventually("gone", on: loop) { one.linkCount == 0 && two.linkCount == 0 }
      }
    }
  }

  @Test func nothingLeavesThisMachine() async throws {
    try await TestLoop.run { loop in
      let (provider, _, _) = try self.make("one", loop)
      let elsewhere = PeerAddress(host: "192.0.2.1", port: 9)
      for host in ["0.0.0.0", "::", "192.0.2.1", "example.org"] {
        let address = PeerAddress(host: host, port: 0)
        #expect(throws: PeerNetworkError.notLoopback(address)) { try provider.listen(at: address) }
      }
      await #expect(throws: PeerNetworkError.notLoopback(elsewhere)) { try await provider.connect(to: elsewhere) }
      #expect(PeerNetworkError.notLoopback(elsewhere).description.contains("not encrypted"))
      provider.stop()
    }
  }

  @Test func whoCallsItselfOrSomebodyElseIsRefused() async throws {
    try await TestLoop.run { loop in
      let (one, heard, address) = try self.make("one", loop)
      let (two, _, addressOfTwo) = try self.make("two", loop)
      await #expect(throws: PeerNetworkError.self) { try await one.connect(to: address) }
      await #expect(throws: PeerNetworkError.handshake(.wrongPeer)) {
        try await one.connect(to: addressOfTwo, expecting: PeerId("three"))
      }
      #expect(heard.connected.isEmpty)
      two.stop()
      await #expect(throws: PeerNetworkError.self) { try await one.connect(to: addressOfTwo) }
      one.stop()
    }
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0x10, 1],
      Array("GET / HTTP/1.1\r\n\r\n".utf8),
      [0, 0, 0, 1, 0xff], [0, 0, 0, 1, 0xa0], [0, 0, 0, 2, 0x81, 0x81],
    ] as [[UInt8]])
  func aStrangerThatTalksNonsenseIsCutOff(bytes: [UInt8]) async throws {
    try await TestLoop.run { loop in
      let (provider, heard, address) = try self.make("one", loop)
      let raw = try await RawPeer.connect(to: address, on: loop)
      raw.send(bytes)
      try await eventually("cut off", on: loop) { raw.isClosed && provider.linkCount == 0 }
      #expect(heard.connected.isEmpty)
      provider.stop()
    }
  }

  @Test func silenceIsCutOffAfterFiveSecondsAndAfterAMinute() async throws {
    try await TestLoop.run { loop in
      let clock = ManualClock()
      let (provider, heard, address) = try self.make("one", loop, clock: clock)
      let mute = try await RawPeer.connect(to: address, on: loop)
      try await eventually("accepted", on: loop) { provider.linkCount == 1 }
      clock.advance(by: .milliseconds(4900))
      let peer = try await RawPeer.connect(to: address, on: loop)
      try peer.join(as: "slow")
      try await eventually("joined", on: loop) { heard.connected == [PeerId("slow")] }
      #expect(!mute.isClosed)
      clock.advance(by: .milliseconds(200))
      try await eventually("the mute one is gone", on: loop) { mute.isClosed }
      clock.advance(by: .seconds(16))
      try await eventually("it is pinged", on: loop) { peer.messages.contains(.other(type: "ping", fields: [:])) }
      try peer.send(.other(type: "pong", fields: [:]))
      try peer.send(.other(type: "ping", fields: [:]))
      try await eventually("and answered", on: loop) { peer.messages.contains(.other(type: "pong", fields: [:])) }
      clock.advance(by: .seconds(44))
      #expect(provider.isConnected(PeerId("slow")))
      clock.advance(by: .seconds(2))
      try await eventually("dead", on: loop) { peer.isClosed && heard.disconnected == [PeerId("slow")] }
      provider.stop()
    }
  }

  @Test func badMessagesOfAKnownPeerAreDropped() async throws {
    try await TestLoop.run { loop in
      let (provider, heard, address) = try self.make("one", loop)
      let raw = try await RawPeer.connect(to: address, on: loop)
      try raw.join(as: "raw")
      raw.send(try Frame.encode([0xff]))
      try raw.join(as: "raw")
      try raw.send(.other(type: "x", fields: ["senderId": "somebody else"]))
      raw.send(try Frame.encode([UInt8](repeating: 0x81, count: 100_000)))
      try raw.send(.other(type: "good", fields: [:]))
      try await eventually("the good one arrives", on: loop) { !heard.messages.isEmpty }
      #expect(heard.messages == [.other(type: "good", fields: [:])])
      raw.send([0xff, 0xff, 0xff, 0xff])
      try await eventually("a lying length ends it", on: loop) { raw.isClosed && heard.disconnected == [PeerId("raw")] }
      provider.stop()
    }
  }

  @Test func aPeerThatDoesNotReadIsDroppedAndOthersAreNot() async throws {
    try await TestLoop.run { loop in
      let (provider, heard, address) = try self.make("one", loop)
      let slow = try await RawPeer.connect(to: address, on: loop, reads: false)
      try slow.join(as: "slow")
      let quick = try await RawPeer.connect(to: address, on: loop)
      try quick.join(as: "quick")
      try await eventually("both joined", on: loop) { heard.connected.count == 2 }
      let block = CBOR.bytes(Data(count: 4 << 20))
      var sent = 0
      while provider.isConnected(PeerId("slow")), sent < 40 {
        provider.send(.other(type: "big", fields: ["data": block]), to: PeerId("slow"))
        sent += 1
        try await eventually("a turn", on: loop) { true }
        await Task.yield()
      }
      #expect(sent >= 16)
      provider.send(.other(type: "small", fields: [:]), to: PeerId("quick"))
      try await eventually("dropped", on: loop) { heard.disconnected == [PeerId("slow")] }
      try await eventually("the other one hears", on: loop) {
        quick.messages.contains(.other(type: "small", fields: [:]))
      }
      #expect(provider.isConnected(PeerId("quick")))
      quick.stream.close()
      slow.stream.close()
      provider.stop()
    }
  }

  @Test func aWantedPeerIsCalledUntilItIsThere() async throws {
    try await TestLoop.run { loop in
      let (one, heard, _) = try self.make("one", loop)
      let (first, _, address) = try self.make("two", loop)
      first.stop()
      one.keepConnected(to: PeerId("two"), at: [address])
      let two = TCPProvider(loop: loop, clock: PatientClock(loop))
      let listener = Listener()
      two.start(as: LocalPeer(peerId: PeerId("two")), delegate: listener)
      try await eventually("the port is free again", on: loop) { (try? two.listen(at: address)) != nil }
      try await eventually("called", on: loop) { heard.connected == [PeerId("two")] }
      two.disconnect(PeerId("one"))
      try await eventually("called again", on: loop) { heard.connected.count == 2 }
      one.forget(PeerId("two"))
      two.stop()
      try await eventually("lost", on: loop) { heard.disconnected.count == 2 }
      one.stop()
    }
  }
}
