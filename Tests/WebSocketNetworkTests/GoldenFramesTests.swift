import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import WebSocketNetwork

/// Bytes as other implementations put them on the wire, and the bytes that they get.
struct GoldenFramesTests {
  private static func hex(_ text: String) throws -> [UInt8] {
    try #require(Hex.bytes(text.filter { !$0.isWhitespace }))
  }

  /// `{"type": "join", "senderId": "peer-1", "peerMetadata": {}, "supportedProtocolVersions": ["1"]}`, canonical.
  private static let join = """
    a4 64 74797065 64 6a6f696e 68 73656e6465724964 66 706565722d31 6c 706565724d65746164617461 a0
    78 19 737570706f7274656450726f746f636f6c56657273696f6e73 81 61 31
    """

  /// What a server says to it, as one unmasked frame: `peer` with our name.
  private static let peer = """
    82 5b a5 64 74797065 64 70656572 68 73656e6465724964 61 73 68 7461726765744964 66 706565722d31
    6c 706565724d65746164617461 a1 6b 6973457068656d6572616c f4 77 73656c656374656450726f746f636f6c56657273696f6e 61 31
    """

  /// The `join` of the code of JavaScript, whose maps have a length of two bytes, of the README, which has `metadata`, of Swift,
  /// which has a text for the versions, and of one that names none.
  private static let otherJoins = [
    """
    b9 0004 64 74797065 64 6a6f696e 68 73656e6465724964 66 706565722d31 6c 706565724d65746164617461
    b9 0002 69 73746f726167654964 f7 6b 6973457068656d6572616c f5 78 19
    737570706f7274656450726f746f636f6c56657273696f6e73 81 61 31
    """,
    """
    a4 64 74797065 64 6a6f696e 68 73656e6465724964 66 706565722d31 68 6d65746164617461 a1 6b 6973457068656d6572616c f5
    78 19 737570706f7274656450726f746f636f6c56657273696f6e73 61 31
    """,
    "bf 68 73656e6465724964 66 706565722d31 61 78 83 01 02 03 64 74797065 64 6a6f696e ff",
  ]

  @Test func theAnswerToTheGoldenJoinIsGolden() async throws {
    let (join, expected) = (try Self.hex(Self.join), try Self.hex(Self.peer))
    try await TestLoop.run { loop in
      let server = Station("s", loop)
      server.provider.start(as: LocalPeer(peerId: PeerId("s")), delegate: server.heard)
      let client = try await RawClient.upgraded(to: try server.listen(), on: loop)
      client.write(RawClient.frame(join))
      try await eventually("an answer", on: loop) { client.received.count >= expected.count }
      #expect(client.received == expected)
      #expect(server.heard.connected == [PeerId("peer-1")])
      server.provider.stop()
    }
  }

  @Test(arguments: otherJoins)
  func everyWayToJoinIsUnderstood(text: String) async throws {
    let join = try Self.hex(text)
    try await TestLoop.run { loop in
      let server = Station("s", loop)
      let client = try await RawClient.upgraded(to: try server.listen(), on: loop)
      client.write(RawClient.frame(join))
      try await eventually("joined", on: loop) { server.heard.connected == [PeerId("peer-1")] }
      #expect(server.heard.metadata[PeerId("peer-1")]?.storageId == nil)
      server.provider.stop()
    }
  }

  @Test func anotherVersionIsAnsweredWithAnErrorAndTheEnd() async throws {
    let join = try Self.hex(Self.join.replacingOccurrences(of: "81 61 31", with: "81 61 32"))
    try await TestLoop.run { loop in
      let server = Station("s", loop)
      let client = try await RawClient.upgraded(to: try server.listen(), on: loop)
      client.write(RawClient.frame(join))
      try await eventually("closed", on: loop) { client.isClosed }
      let body = Array(client.received.dropFirst(2).prefix(Int(client.received[1])))
      #expect(
        try RepoMessage(body) == .error(senderId: PeerId("s"), targetId: nil, message: "unsupported protocol version"))
      #expect(client.received.suffix(4) == [0x88, 2, 0x03, 0xe8])
      server.provider.stop()
    }
  }

  /// A count as a float, a document id as bytes, an unknown key, `undefined` in the place of a list, `remote-heads-changed`.
  @Test func otherHabitsAreUnderstood() async throws {
    let id = try #require(DocumentId("148vjpuxLmPtrT3kP4TEueSfUbc"))
    func fields(_ type: String, _ more: [CBOR.Entry]) -> [UInt8] {
      CBOR.map(
        [CBOR.Entry("type", .text(type)), CBOR.Entry("senderId", "peer-1"), CBOR.Entry("targetId", "s")] + more
      ).encoded()
    }
    let document = CBOR.Entry("documentId", .bytes(Data(id.bytes)))
    let frames = [
      fields(
        "ephemeral",
        [
          document, CBOR.Entry("count", .float(3)), CBOR.Entry("sessionId", "x"),
          CBOR.Entry("data", .bytes(Data([0xf6]))),
          CBOR.Entry("later", .array([.null, .undefined])),
        ]),
      fields("remote-subscription-change", [CBOR.Entry("add", .array(["y"])), CBOR.Entry("remove", .undefined)]),
      fields(
        "remote-heads-changed",
        [document, CBOR.Entry("newHeads", .record(["y": .record(["heads": .array([]), "timestamp": .float(1e12)])]))]),
      fields("doc-unavailable", [document]),
    ]
    let join = try Self.hex(Self.join)
    try await TestLoop.run { loop in
      let server = Station("s", loop)
      let client = try await RawClient.upgraded(to: try server.listen(), on: loop)
      for frame in [join] + frames { client.write(RawClient.frame(frame)) }
      try await eventually("all", on: loop) { server.heard.messages.count == 4 }
      guard case .ephemeral(let message) = server.heard.messages[0] else {
        Issue.record("\(server.heard.messages[0])")
        return
      }
      #expect((message.count, message.documentId) == (3, id))
      guard case .document(let last) = server.heard.messages[3] else {
        Issue.record("\(server.heard.messages[3])")
        return
      }
      #expect(last.content == .unavailable)
      server.provider.stop()
    }
  }
}
