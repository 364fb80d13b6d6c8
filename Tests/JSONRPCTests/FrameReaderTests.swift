import JSONRPC
import TestSupport
import Testing

struct FrameReaderTests {
  private func frames(_ text: String, limit: Int = FrameReader.defaultFrameLimit) throws -> [String] {
    var reader = FrameReader(frameLimit: limit)
    reader.append(text.utf8)
    var bodies: [String] = []
    while let body = try reader.next() { bodies.append(String(decoding: body, as: UTF8.self)) }
    return bodies
  }

  @Test func readsFramesOneAfterTheOther() throws {
    #expect(
      try frames("Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\nContent-Length: 3\r\n\r\nabc") == [
        "{}", "", "abc",
      ])
  }

  @Test(arguments: [
    "content-length:2\r\n\r\n{}", "CONTENT-LENGTH:   2  \r\n\r\n{}", "Content-Length : 2\r\n\r\n{}",
    "Content-Length: 2\r\nContent-Type: application/vim-jsonrpc; charset=utf-8\r\n\r\n{}",
    "Content-Type: x\r\nX: \r\nContent-Length: 2\r\n\r\n{}", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "Content-Length: 0000000000000000000000000000002\r\n\r\n{}",
  ])
  func acceptsAnyHeadersInAnyOrderAndCase(text: String) throws {
    #expect(try frames(text) == ["{}"])
  }

  /// The longest file that is a note, `WorkingFiles.maximumByteCount`, comes with each of its bytes written as six.
  @Test func aFrameForTheLongestNoteWithTheMostEscapesIsNotTooLong() throws {
    #expect(try frames("Content-Length: \(6 * (128 << 20) + 4096)\r\n\r\n{").isEmpty)
  }

  @Test(arguments: [
    ("\r\n{}", FrameError.missingContentLength), ("Content-Type: x\r\n\r\n{}", .missingContentLength),
    ("Content-Lengthy: 2\r\n\r\n{}", .missingContentLength), ("garbage\r\n\r\n", .malformedHeader),
    ("Content-Length: 2\nA: b\r\n\r\n{}", .malformedHeader), ("Content-Length: -1\r\n\r\n{}", .invalidContentLength),
    ("Content-Length: +2\r\n\r\n{}", .invalidContentLength), ("Content-Length: 2x\r\n\r\n{}", .invalidContentLength),
    ("Content-Length: 0x2\r\n\r\n{}", .invalidContentLength), ("Content-Length: 2 2\r\n\r\n{}", .invalidContentLength),
    ("Content-Length:\r\n\r\n{}", .invalidContentLength), ("Content-Length: 2.0\r\n\r\n{}", .invalidContentLength),
    ("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", .conflictingContentLengths),
    ("Content-Length: 101\r\n\r\n", .frameTooLarge(limit: 100)),
    ("Content-Length: 18446744073709551617\r\n\r\n", .frameTooLarge(limit: 100)),
    ("Content-Length: 99999999999999999999999999999999999999999999\r\n\r\n", .frameTooLarge(limit: 100)),
  ])
  func refusesLyingHeaders(text: String, expected: FrameError) {
    #expect(throws: expected) { try frames(text, limit: 100) }
  }

  @Test func goodFramesBeforeABadOneAreRead() throws {
    var reader = FrameReader()
    reader.append("Content-Length: 1\r\n\r\naContent-Length: x\r\n\r\n".utf8)
    #expect(try reader.next() == [0x61])
    #expect(throws: FrameError.invalidContentLength) { try reader.next() }
    reader.append("Content-Length: 1\r\n\r\na".utf8)
    #expect(throws: FrameError.invalidContentLength) { try reader.next() }
    #expect(reader.unreadByteCount == 0)
  }

  @Test func anEndlessHeaderIsRefusedAtTheLimit() throws {
    var reader = FrameReader()
    reader.append(repeatElement(0x61, count: 8191))
    #expect(try reader.next() == nil)
    reader.append([0x61])
    #expect(throws: FrameError.headerTooLarge(limit: 8192)) { try reader.next() }

    let padding = String(repeating: "x", count: 8192)
    #expect(throws: FrameError.headerTooLarge(limit: 8192)) { try frames("A: \(padding)\r\nContent-Length: 0\r\n\r\n") }
  }

  @Test func splitsAtEveryByteMakeNoDifference() throws {
    let text = Array("A: b\r\nContent-Length: 5\r\n\r\nhelloContent-Length: 0\r\n\r\ncontent-length:2\r\n\r\n\r\n".utf8)
    for split in 0...text.count {
      var reader = FrameReader()
      var bodies: [[UInt8]] = []
      for part in [text[..<split], text[split...]] {
        reader.append(part)
        while let body = try reader.next() { bodies.append(body) }
      }
      #expect(bodies == [Array("hello".utf8), [], Array("\r\n".utf8)], "split at \(split)")
      #expect(reader.unreadByteCount == 0)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func randomFramesInRandomPiecesComeOutWhole(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sent = (0..<50).map { _ in
      (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    var bytes = sent.flatMap { FrameWriter.frame($0) }[...]
    var reader = FrameReader()
    var received: [[UInt8]] = []
    while !bytes.isEmpty {
      let piece = bytes.prefix(Int.random(in: 1...400, using: &random))
      bytes = bytes.dropFirst(piece.count)
      reader.append(piece)
      while let body = try reader.next() { received.append(body) }
    }
    #expect(received == sent, "seed \(seed)")
  }

  @Test func anAnnouncedLengthAloneTakesNoMemory() throws {
    var reader = FrameReader()
    reader.append("Content-Length: 67108864\r\n\r\nabc".utf8)
    #expect(try reader.next() == nil)
    #expect(reader.unreadByteCount == 3)
  }
}
