import TestSupport
import Testing

@testable import WebSocketNetwork

struct WebSocketCodecTests {
  private func codec(
    _ role: WebSocketCodec.Role, limit: Int = 1 << 20, absolute: Int = 1 << 21
  ) throws -> WebSocketCodec {
    try WebSocketCodec(role, maximumByteCount: limit, absoluteMaximumByteCount: absolute) { [1, 2, 3, 4] }
  }

  private func feed(_ bytes: [UInt8], to codec: WebSocketCodec) throws(WebSocketError) -> [[UInt8]] {
    var problem: WebSocketError?
    bytes.withUnsafeBytes { bytes in
      do throws(WebSocketError) { try codec.receive(bytes) } catch { problem = error }
    }
    if let problem { throw problem }
    var messages: [[UInt8]] = []
    while let message = codec.assembly.next() { messages.append(message) }
    return messages
  }

  @Test(arguments: [0, 1, 125, 126, 65535, 65536, 1 << 20])
  func messagesOfEveryLengthArriveBothWays(byteCount: Int) throws {
    let (client, server) = (try codec(.client), try codec(.server))
    let message = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
    try client.send(message)
    let sent = client.takeOutput()
    // A client masks what it sends.
    #expect(sent[1] & 0x80 != 0)
    #expect(try feed(sent, to: server) == [message])
    try server.send(message)
    #expect(try feed(server.takeOutput(), to: client) == [message])
  }

  @Test func bytesMayComeOneByOneAndMessagesTogether() throws {
    let (client, server) = (try codec(.client), try codec(.server))
    for message in [[1], [2, 2], []] as [[UInt8]] { try client.send(message) }
    let bytes = client.takeOutput()
    #expect(try bytes.flatMap { try feed([$0], to: server) } == [[1], [2, 2], []])
    let again = try codec(.server)
    #expect(try feed(bytes, to: again) == [[1], [2, 2], []])
  }

  @Test func fragmentsBecomeOneMessageWithPingsBetweenThem() throws {
    let server = try codec(.server)
    let frames =
      RawClient.frame([1], isFinal: false) + RawClient.frame([9], opcode: 9)
      + RawClient.frame([2], opcode: 0, isFinal: false) + RawClient.frame([3], opcode: 0)
    #expect(try feed(frames, to: server) == [[1, 2, 3]])
    #expect(server.takeOutput() == [0x8a, 1, 9])
  }

  @Test func textIsPassedOver() throws {
    let server = try codec(.server)
    #expect(try feed(RawClient.frame(Array("hello".utf8), opcode: 1) + RawClient.frame([7]), to: server) == [[7]])
    #expect(server.assembly.textCount == 1)
  }

  @Test func aLongMessageEndsTheConnectionOrIsPassedOver() throws {
    let strict = try codec(.server, limit: 100, absolute: 1000)
    #expect(throws: WebSocketError.broken(status: 1009)) { try feed(RawClient.frame([0], claiming: 101), to: strict) }
    #expect(strict.takeOutput() == [0x88, 2, 0x03, 0xf1])
    let lenient = try codec(.server, limit: 100, absolute: 1000)
    lenient.assembly.skipsTooLong = true
    let long = RawClient.frame([UInt8](repeating: 1, count: 101))
    #expect(try feed(long + RawClient.frame([7]), to: lenient) == [[7]])
    #expect(lenient.assembly.unfinishedByteCount == 0)
    #expect(throws: WebSocketError.broken(status: 1009)) { try feed(RawClient.frame([0], claiming: 1001), to: lenient) }
  }

  @Test func fragmentsCountTogether() throws {
    let server = try codec(.server, limit: 100, absolute: 1000)
    let part = [UInt8](repeating: 1, count: 60)
    #expect(throws: WebSocketError.broken(status: 1009)) {
      try feed(RawClient.frame(part, isFinal: false) + RawClient.frame(part, opcode: 0, isFinal: false), to: server)
    }
    // Also for texts, which are not stored.
    let other = try codec(.server, limit: 100, absolute: 1000)
    let texts =
      RawClient.frame(part, opcode: 1, isFinal: false)
      + (0..<20).flatMap { _ in RawClient.frame(part, opcode: 0, isFinal: false) }
    #expect(throws: WebSocketError.broken(status: 1009)) { try feed(texts, to: other) }
  }

  @Test func anAnnouncedLengthCostsNothing() throws {
    let server = try codec(.server, limit: 1 << 20)
    #expect(try feed(RawClient.frame([1, 2, 3], claiming: 1 << 20), to: server) == [])
    #expect(server.assembly.unfinishedByteCount == 3)
  }

  @Test(arguments: [
    // Without a mask, a reserved bit, a reserved opcode, a continuation of nothing, a fragmented ping, a long ping.
    RawClient.frame([1], isMasked: false), [0xc2, 0x81, 0, 0, 0, 0, 1], RawClient.frame([1], opcode: 3),
    RawClient.frame([1], opcode: 0), RawClient.frame([1], opcode: 9, isFinal: false),
    RawClient.frame([UInt8](repeating: 0, count: 126), opcode: 9),
    // A new message within another, a length of 2^63, a length that is not the shortest.
    RawClient.frame([1], isFinal: false) + RawClient.frame([1]),
    [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x82, 0xfe, 0, 5, 0, 0, 0, 0],
  ])
  func whatTheProtocolForbidsEndsTheConnection(bytes: [UInt8]) throws {
    let server = try codec(.server)
    #expect(throws: WebSocketError.self) { try feed(bytes, to: server) }
  }

  @Test func bothSidesSayThatTheyClose() throws {
    let (client, server) = (try codec(.client), try codec(.server))
    try client.send([1])
    try client.close()
    try client.send([2])
    #expect(try feed(client.takeOutput(), to: server) == [[1]])
    #expect(server.isClosed)
    #expect(try feed(server.takeOutput(), to: client) == [])
    #expect(client.isClosed)
  }

  @Test func randomBytesEndInAnError() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      guard let server = try? codec(.server, limit: 1000, absolute: 2000) else { continue }
      let bytes = (0..<Int.random(in: 1...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = try? feed(bytes, to: server)
      #expect(server.assembly.unfinishedByteCount <= 1000)
    }
  }
}
