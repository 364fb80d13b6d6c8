import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

struct TCPProviderTests {
  @Test func twoMeetAndTalkBothWays() async throws {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      #expect(try await one.provider.connect(to: two.address) == two.peerId)
      try await eventually("both know", on: loop) { two.heard.connected == [one.peerId] }
      #expect(one.heard.connected == [two.peerId])
      for number in 0..<100 {
        one.provider.send(.other(type: "x", fields: ["n": .integer(number)]), to: two.peerId)
        two.provider.send(.other(type: "y", fields: ["n": .integer(number)]), to: one.peerId)
      }
      try await eventually("all arrive", on: loop) {
        one.heard.messages.count == 100 && two.heard.messages.count == 100
      }
      #expect(two.heard.messages == (0..<100).map { .other(type: "x", fields: ["n": .integer($0)]) })
      one.provider.disconnect(two.peerId)
      try await eventually("both hear of it", on: loop) {
        one.heard.disconnected == [two.peerId] && two.heard.disconnected == [one.peerId]
      }
      one.provider.stop()
      two.provider.stop()
    }
  }

  @Test func aMessageOfManyMegabytesArrivesWhole() async throws {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      two.provider.policy.isKnown = { $0 == one.peerId }
      _ = try await one.provider.connect(to: two.address, expecting: two.peerId)
      let message = RepoMessage.document(
        .init(
          senderId: one.peerId, targetId: two.peerId, documentId: try #require(DocumentId(bytes: Array(1...16))),
          content: .sync(Data((0..<(5 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }))))
      one.provider.send(message, to: two.peerId)
      try await eventually("it arrives", on: loop) { two.heard.messages == [message] }
      one.provider.stop()
      two.provider.stop()
    }
  }

  @Test(arguments: [true, false]) func aCallBecauseNothingGetsThroughTakesTheConnectionsPlace(isNeeded: Bool)
    async throws
  {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      for station in [one, two] { station.provider.crossingTime = .zero }
      _ = try await one.provider.connect(to: two.address, expecting: two.peerId)
      try await eventually("both know", on: loop) { two.provider.isConnected(one.peerId) }
      let old = try #require(one.provider.links[two.peerId])
      if isNeeded { one.provider.redials.begin(two.peerId) }
      let result = await withCheckedContinuation { continuation in
        one.provider.call(two.address, expecting: two.peerId, replaces: true) { continuation.resume(returning: $0) }
      }
      #expect(result == .success(two.peerId))
      #expect((one.provider.links[two.peerId] === old) == !isNeeded)
      #expect(old.isOpen == !isNeeded)
      #expect(one.provider.redials.isEmpty && one.provider.isConnected(two.peerId))
      try await eventually("the other side has one", on: loop) {
        two.provider.isConnected(one.peerId) && two.provider.links.count == 1
      }
      for station in [one, two] { station.provider.stop() }
    }
  }

  @Test func aMessageThatIsTooLongIsLeftOutAndTheOthersArrive() async throws {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      one.provider.keepConnected(to: two.peerId, at: [two.address])
      try await eventually("both know", on: loop) {
        one.heard.connected == [two.peerId] && two.heard.connected == [one.peerId]
      }
      let long = Data(count: Frame.maximumByteCount)
      one.provider.send(.other(type: "long", fields: ["data": .bytes(long)]), to: two.peerId)
      one.provider.send(.other(type: "short", fields: [:]), to: two.peerId)
      try await eventually("the short one arrives", on: loop) { !two.heard.messages.isEmpty }
      #expect(two.heard.messages == [.other(type: "short", fields: [:])])
      #expect(one.heard.disconnected.isEmpty && two.heard.disconnected.isEmpty)
      one.provider.stop()
      two.provider.stop()
    }
  }

  @Test func twoThatCallEachOtherKeepOneConnection() async throws {
    try await TestLoop.run { loop in
      for _ in 0..<10 {
        let (one, two) = (try Station(loop), try Station(loop))
        async let first = one.provider.connect(to: two.address)
        async let second = two.provider.connect(to: one.address)
        _ = try? await first
        _ = try? await second
        try await eventually("one connection is left", on: loop) {
          one.provider.isConnected(two.peerId) && two.provider.isConnected(one.peerId)
            && one.heard.connected.count - one.heard.disconnected.count == 1
            && two.heard.connected.count - two.heard.disconnected.count == 1 && one.provider.links.count == 1
            && two.provider.links.count == 1
        }
        one.provider.send(.other(type: "x", fields: [:]), to: two.peerId)
        two.provider.send(.other(type: "y", fields: [:]), to: one.peerId)
        try await eventually("it works both ways", on: loop) {
          !one.heard.messages.isEmpty && !two.heard.messages.isEmpty
        }
        one.provider.stop()
        two.provider.stop()
        try await eventually("gone", on: loop) { one.provider.links.count == 0 && two.provider.links.count == 0 }
      }
    }
  }

  @Test func allAddressesAreListenedAtAndTicketsNameThem() async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop, at: PeerAddress(host: "*", port: 0))
      let two = try Station(loop)
      let own = one.provider.reachableAddresses
      #expect(!own.isEmpty && own.count <= Ticket.maximumAddresses)
      for address in own {
        #expect(address.isCallable && address.port == one.address.port)
        #expect(try await two.provider.connect(to: address, expecting: one.peerId) == one.peerId)
        two.provider.disconnect(one.peerId)
        try await eventually("gone", on: loop) { two.provider.links.count == 0 }
      }
      one.provider.stop()
      two.provider.stop()
    }
  }

  @Test func ofSeveralAddressesOneThatAnswersIsEnough() async throws {
    try await TestLoop.run { loop in
      let (one, two, other) = (try Station(loop), try Station(loop), try Station(loop))
      let (deaf, silent) = (PeerAddress(host: "127.0.0.1", port: 1), PeerAddress(host: "192.0.2.1", port: 9))
      let addresses = [deaf, silent, other.address, two.address]
      #expect(try await one.provider.connect(toAnyOf: addresses, expecting: two.peerId) == two.peerId)
      #expect(one.heard.connected == [two.peerId])
      await #expect(throws: PeerNetworkError.self) {
        try await one.provider.connect(toAnyOf: [deaf, other.address], expecting: Identity().peerId)
      }
      for station in [one, two, other] { station.provider.stop() }
    }
  }

  @Test func aCallToItselfOrToAnotherPeerIsRefused() async throws {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      await #expect(throws: PeerNetworkError.self) { try await one.provider.connect(to: one.address) }
      await #expect(throws: PeerNetworkError.handshake(.wrongPeer)) {
        try await one.provider.connect(to: two.address, expecting: Identity().peerId)
      }
      #expect(one.heard.connected.isEmpty && two.heard.connected.isEmpty)
      two.provider.stop()
      await #expect(throws: PeerNetworkError.self) { try await one.provider.connect(to: two.address) }
      one.provider.stop()
    }
  }

  @Test func aPeerMayNotTakeAnIdThatItsKeyDoesNotSay() async throws {
    try await TestLoop.run { loop in
      let (one, two) = (try Station(loop), try Station(loop))
      let raw = try await RawPeer.connect(to: one.address, on: loop)
      try raw.join(as: two.peerId)
      try await eventually("cut off", on: loop) { raw.isClosed && one.provider.links.count == 0 }
      #expect(one.heard.connected.isEmpty && raw.messages.isEmpty)
      one.provider.stop()
      two.provider.stop()
    }
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0x10, 1],
      Array("GET / HTTP/1.1\r\n\r\n".utf8),
      [0, 0, 0, 1, 0xff], [0, 0, 0, 1, 0xa0], [0, 0, 0, 2, 0x81, 0x81],
    ] as [[UInt8]], [true, false])
  func aStrangerThatTalksNonsenseIsCutOff(bytes: [UInt8], isEncrypted: Bool) async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop)
      let raw = try await RawPeer.connect(to: one.address, on: loop, isEncrypted: isEncrypted)
      raw.send(bytes + [UInt8](repeating: 0, count: 16))
      try await eventually("cut off", on: loop) { raw.isClosed && one.provider.links.count == 0 }
      #expect(one.heard.connected.isEmpty)
      // Unencrypted: a TLS alert at most.
      if !isEncrypted { #expect(raw.receivedByteCount <= 7 && raw.messages.isEmpty) }
      one.provider.stop()
    }
  }

  @Test func silenceIsCutOffAfterFiveSecondsAndAfterAMinute() async throws {
    try await TestLoop.run { loop in
      let clock = ManualClock()
      let one = try Station(loop, clock: clock)
      one.provider.policy.isAwaited = { _ in true }
      let mute = try await RawPeer.connect(to: one.address, on: loop, isEncrypted: false)
      let wordless = try await RawPeer.connect(to: one.address, on: loop)
      try await eventually("accepted", on: loop) { one.provider.links.count == 2 }
      clock.advance(by: .milliseconds(4900))
      let peer = try await RawPeer.connect(to: one.address, on: loop)
      try peer.join()
      try await eventually("joined", on: loop) { one.heard.connected == [peer.peerId] }
      #expect(!mute.isClosed && !wordless.isClosed)
      clock.advance(by: .milliseconds(200))
      try await eventually("the mute ones are gone", on: loop) { mute.isClosed && wordless.isClosed }
      clock.advance(by: .seconds(16))
      try await eventually("it is pinged", on: loop) { peer.messages.contains(.other(type: "ping", fields: [:])) }
      try peer.send(.other(type: "pong", fields: [:]))
      try peer.send(.other(type: "ping", fields: [:]))
      try await eventually("and answered", on: loop) { peer.messages.contains(.other(type: "pong", fields: [:])) }
      clock.advance(by: .seconds(44))
      #expect(one.provider.isConnected(peer.peerId))
      clock.advance(by: .seconds(2))
      try await eventually("dead", on: loop) { peer.isClosed && one.heard.disconnected == [peer.peerId] }
      one.provider.stop()
    }
  }

  @Test func connectedPeersArePingedAtOnceWhenTheMachineHasSlept() async throws {
    try await TestLoop.run { loop in
      let clock = ManualClock()
      let one = try Station(loop, clock: clock)
      let (alive, gone) = (
        try await RawPeer.connect(to: one.address, on: loop), try await RawPeer.connect(to: one.address, on: loop)
      )
      for peer in [alive, gone] { try peer.join() }
      try await eventually("joined", on: loop) { one.heard.connected.count == 2 }
      one.provider.woke()
      let ping = RepoMessage.other(type: "ping", fields: [:])
      try await eventually("asked", on: loop) { alive.messages.contains(ping) && gone.messages.contains(ping) }
      try alive.send(.other(type: "hello", fields: [:]))
      try await eventually("answered", on: loop) { !one.heard.messages.isEmpty }
      clock.advance(by: .milliseconds(4900))
      #expect(!gone.isClosed)
      clock.advance(by: .milliseconds(200))
      try await eventually("one is gone", on: loop) { one.heard.disconnected == [gone.peerId] && gone.isClosed }
      #expect(one.provider.isConnected(alive.peerId))
      one.provider.stop()
    }
  }

  @Test(arguments: [true, false])
  func badMessagesOfAPeerAreDropped(isKnown: Bool) async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop)
      one.provider.policy.isKnown = { _ in isKnown }
      let raw = try await RawPeer.connect(to: one.address, on: loop)
      try raw.join()
      raw.send(try Frame.encode([0xff]))
      try raw.join()
      try raw.send(.other(type: "x", fields: ["senderId": "another peer"]))
      raw.send(try Frame.encode([UInt8](repeating: 0x81, count: 100_000)))
      let long = RepoMessage.other(type: "long", fields: ["data": .bytes(Data(count: 100_000))])
      try raw.send(long)
      try raw.send(.other(type: "good", fields: [:]))
      let good = RepoMessage.other(type: "good", fields: [:])
      try await eventually("the good one arrives", on: loop) { one.heard.messages.contains(good) }
      // Long messages of an unknown peer are skipped.
      #expect(one.heard.messages == (isKnown ? [long, good] : [good]))
      raw.send([0xff, 0xff, 0xff, 0xff])
      try await eventually("a lying length ends it", on: loop) {
        raw.isClosed && one.heard.disconnected == [raw.peerId]
      }
      one.provider.stop()
    }
  }

  @Test func damagedRecordsEndTheConnection() async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop)
      let raw = try await RawPeer.connect(to: one.address, on: loop)
      try raw.join()
      try await eventually("joined", on: loop) { one.heard.connected == [raw.peerId] }
      // A record that was written without the keys.
      try raw.stream.write([0x17, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))
      try await eventually("cut off", on: loop) { raw.isClosed && one.heard.disconnected == [raw.peerId] }
      #expect(one.heard.messages.isEmpty)
      one.provider.stop()
    }
  }

  @Test func aPeerThatDoesNotReadIsDroppedAndOthersAreNot() async throws {
    try await TestLoop.run { loop in
      let one = try Station(loop)
      one.provider.policy.isKnown = { _ in true }
      let slow = try await RawPeer.connect(to: one.address, on: loop, reads: false)
      try slow.join()
      let quick = try await RawPeer.connect(to: one.address, on: loop)
      try quick.join()
      try await eventually("both joined", on: loop) { one.heard.connected.count == 2 }
      let block = CBOR.bytes(Data(count: 4 << 20))
      var sent = 0
      while one.provider.isConnected(slow.peerId), sent < 40 {
        one.provider.send(.other(type: "big", fields: ["data": block]), to: slow.peerId)
        sent += 1
        try await eventually("a turn", on: loop) { true }
        await Task.yield()
      }
      #expect(sent >= 16)
      one.provider.send(.other(type: "small", fields: [:]), to: quick.peerId)
      try await eventually("dropped", on: loop) { one.heard.disconnected == [slow.peerId] }
      try await eventually("the other one hears", on: loop) {
        quick.messages.contains(.other(type: "small", fields: [:]))
      }
      #expect(one.provider.isConnected(quick.peerId))
      quick.stream.close()
      slow.stream.close()
      one.provider.stop()
    }
  }

  @Test func aWantedPeerIsCalledUntilItIsThere() async throws {
    try await TestLoop.run { loop in
      let (one, first) = (try Station(loop), try Station(loop))
      first.provider.stop()
      one.provider.keepConnected(to: first.peerId, at: [first.address])
      let two = try TCPProvider(loop: loop, clock: PatientClock(loop), identity: first.identity)
      let listener = Listener()
      two.start(as: LocalPeer(peerId: first.peerId), delegate: listener)
      try await eventually("the port is free again", on: loop) { (try? two.listen(at: first.address)) != nil }
      try await eventually("called", on: loop) { one.heard.connected == [first.peerId] }
      two.disconnect(one.peerId)
      try await eventually("called again", on: loop) { one.heard.connected.count == 2 }
      one.provider.forget(first.peerId)
      two.stop()
      try await eventually("lost", on: loop) { one.heard.disconnected.count == 2 }
      one.provider.stop()
    }
  }
}
