import Foundation
import TestSupport
import Testing

@testable import AutomergeRepo

struct RepoMessageTests {
  private static let document = DocumentId(bytes: Array(1...16)) ?? DocumentId.random(using: &fallback)
  nonisolated(unsafe) private static var fallback = SystemRandomNumberGenerator()

  private static let samples: [RepoMessage] = [
    .join(
      senderId: PeerId("peer-1"),
      metadata: PeerMetadata(name: "Ana", storageId: StorageId("s"), addresses: ["127.0.0.1:1"]),
      versions: ["1"]),
    .peer(senderId: PeerId("b"), targetId: PeerId("a"), metadata: PeerMetadata(isEphemeral: true), version: "1"),
    .leave(senderId: PeerId("a")), .error(senderId: PeerId("a"), targetId: nil, message: "no"),
    .document(.init(senderId: PeerId("a"), targetId: PeerId("b"), documentId: document, content: .request(Data([1])))),
    .document(
      .init(senderId: PeerId("a"), targetId: PeerId("b"), documentId: document, content: .sync(Data([0x42, 0, 0])))),
    .document(.init(senderId: PeerId("a"), targetId: PeerId("b"), documentId: document, content: .unavailable)),
    .ephemeral(
      .init(
        senderId: PeerId("a"), targetId: PeerId("b"), documentId: document, count: 1 << 40, sessionId: "s",
        data: Data([0xf6]))),
    .other(type: "ticket", fields: ["documentId": "x", "accepted": true, "n": .array([1, .null])]),
  ]

  @Test func everyMessageSurvivesTheWire() throws {
    for message in RepoMessageTests.samples { #expect(try RepoMessage(message.encoded()) == message) }
  }

  /// Messages about documents are read without CBOR values where they are written as ours: with the same result, and the same
  /// refusals.
  @Test func messagesAboutDocumentsAreReadAlikeInEveryForm() throws {
    var read = 0
    for (name, byteCount) in [
      ("a", 1), (String(repeating: "é", count: 40), 23), ("ana/1", 24), ("b", 256), ("c", 70_000),
    ] {
      let data = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0) })
      for (type, content) in [("sync", RepoMessage.Content.sync(data)), ("request", .request(data))] {
        let message = RepoMessage.document(
          .init(
            senderId: PeerId(name), targetId: PeerId("b"), documentId: RepoMessageTests.document, content: content))
        let record = CBOR.record([
          "type": .text(type), "senderId": .text(name), "targetId": "b",
          "documentId": .text(RepoMessageTests.document.description), "data": .bytes(data),
        ])
        let bytes = message.encoded()
        #expect(bytes == record.encoded())
        #expect(try RepoMessage(bytes) == message)
        // The count of the fields in two bytes instead of one: that is another form.
        func other(_ bytes: [UInt8]) -> [UInt8] { [0xb8, 5] + bytes.dropFirst() }
        #expect(try RepoMessage(other(bytes)) == message)
        for place in bytes.indices.dropFirst().prefix(300) {
          for change in byteCount > 1_000 ? [0x21] : [1, 2, 0x20, 0x40, 0x80, 0xff] as [UInt8] {
            var damaged = bytes
            damaged[place] ^= change
            let one = try? RepoMessage(damaged)
            let same = try? RepoMessage(other(damaged))
            #expect(one == same, "byte \(place) of a \(type) of \(name)")
            if one != nil { read += 1 }
          }
        }
        for extra in [[0], [0xff]] as [[UInt8]] {
          #expect(throws: RepoMessageError.self) { try RepoMessage(bytes + extra) }
        }
      }
    }
    #expect(read > 1_000, "some damage leaves a message")
  }

  @Test func joinIsTheGoldenOne() {
    let join = RepoMessage.join(
      senderId: PeerId("peer-1"), metadata: PeerMetadata(storageId: StorageId("s")), versions: ["1"])
    let text = Array("dtypedjoinhsenderIdfpeer-1lpeerMetadata".utf8)
    let bytes = join.encoded()
    #expect(bytes.first == 0xa4)
    #expect(Array(bytes[1..<1 + text.count]) == text)
    #expect(bytes[1 + text.count] == 0xa2)
    #expect(
      bytes.suffix(28) == [0x78, 0x19] + Array("supportedProtocolVersions".utf8)[1...] + [0x81, 0x61, 0x31]
        || bytes.suffix(3) == [0x81, 0x61, 0x31])
  }

  @Test func variantsOfOtherSpeakersAreUnderstood() throws {
    let bare = CBOR.record([
      "type": "join", "senderId": "p", "metadata": .record(["isEphemeral": true]), "supportedProtocolVersions": "1",
    ])
    #expect(
      try RepoMessage(bare.encoded())
        == .join(senderId: PeerId("p"), metadata: PeerMetadata(isEphemeral: true), versions: ["1"]))
    let silent = CBOR.record(["type": "join", "senderId": "p", "peerMetadata": .undefined, "new": .array([.map([])])])
    #expect(
      try RepoMessage(silent.encoded()) == .join(senderId: PeerId("p"), metadata: PeerMetadata(), versions: ["1"]))
    let float = CBOR.record([
      "type": "ephemeral", "senderId": "a", "targetId": "b", "documentId": .bytes(Data(1...16)), "count": .float(3),
      "sessionId": "s", "data": .bytes(Data([1])),
    ])
    guard case .ephemeral(let message) = try RepoMessage(float.encoded()) else {
      Issue.record("no ephemeral")
      return
    }
    #expect(message.count == 3)
    #expect(message.documentId.bytes == Array(1...16))
    let heads = CBOR.record(["type": "remote-subscription-change", "add": .undefined, "senderId": "a"])
    #expect(
      try RepoMessage(heads.encoded())
        == .other(type: "remote-subscription-change", fields: ["add": .undefined, "senderId": "a"]))
  }

  @Test func wrongFieldsAreNamed() {
    func expect(_ error: RepoMessageError, _ value: CBOR) {
      #expect(throws: error) { try RepoMessage(value.encoded()) }
    }
    expect(.notAMessage, 1)
    expect(.notAMessage, .array([]))
    expect(.notAMessage, .record(["type": 1]))
    expect(.badField(type: "join", field: "senderId"), .record(["type": "join"]))
    expect(.badField(type: "join", field: "senderId"), .record(["type": "join", "senderId": ""]))
    expect(.badField(type: "leave", field: "senderId"), .record(["type": "leave", "senderId": .bytes(Data([1]))]))
    let head: KeyValuePairs<String, CBOR?> = [
      "type": "sync", "senderId": "a", "targetId": "b", "documentId": "nonsense",
    ]
    expect(.badField(type: "sync", field: "documentId"), .record(head))
    expect(
      .badField(type: "sync", field: "data"),
      .record([
        "type": "sync", "senderId": "a", "targetId": "b", "documentId": .text(RepoMessageTests.document.description),
        "data": "text",
      ]))
    #expect(throws: RepoMessageError.notCBOR(.truncated(at: 0))) { try RepoMessage([]) }
  }

  @Test func damagedMessagesNeverDoHarm() {
    let seed: UInt64 = 77
    var random = SeededGenerator(seed: seed)
    for sample in RepoMessageTests.samples {
      let whole = sample.encoded()
      for count in 0..<whole.count { #expect(throws: RepoMessageError.self) { try RepoMessage(whole.prefix(count)) } }
      for _ in 0..<2_000 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        _ = try? RepoMessage(bytes)
      }
    }
  }
}
