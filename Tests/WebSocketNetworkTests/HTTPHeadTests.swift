import TestSupport
import Testing

@testable import WebSocketNetwork

struct HTTPHeadTests {
  private func read(_ text: String) throws(HTTPError) -> HTTPHead? { try HTTPHead.read(Array(text.utf8))?.head }

  @Test func aHeadHasAFirstLineAndFields() throws {
    let head = try #require(try read("GET /a?b HTTP/1.1\r\nHost: x\r\nUPGRADE:\t WebSocket \r\nA: 1\r\nA: 2\r\n\r\n"))
    #expect(head.start == ["GET", "/a?b", "HTTP/1.1"])
    #expect(head.only("host") == "x")
    #expect(head.only("a") == nil)
    #expect(head.values("a") == ["1", "2"])
    #expect(head.lists("websocket", in: "upgrade"))
    #expect(!head.lists("web", in: "upgrade"))
  }

  @Test func aListMayBeSpreadOverFields() throws {
    let head = try #require(try read("GET / HTTP/1.1\r\nConnection: keep-alive,\tUpgrade\r\nConnection: x\r\n\r\n"))
    #expect(head.lists("upgrade", in: "connection") && head.lists("x", in: "connection"))
  }

  @Test func whatFollowsTheEmptyLineIsNotPartOfTheHead() throws {
    let text = "HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n"
    let read = try #require(try HTTPHead.read(Array(text.utf8) + [0, 1, 13, 10, 13, 10]))
    #expect(read.byteCount == text.utf8.count)
    #expect(read.head.start == ["HTTP/1.1", "101", "Switching Protocols"])
  }

  @Test func cutAtEveryByteAHeadIsNotThereYet() throws {
    let text = Array("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n".utf8)
    for count in 0..<text.count { #expect(try HTTPHead.read(Array(text[..<count])) == nil) }
  }

  @Test(arguments: [
    "GET\r\n\r\n", " / HTTP/1.1\r\n\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
    "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nA: x\r\n continued\r\n\r\n", "GET / HTTP/1.1\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nA: x\ry\r\n\r\n", "GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n", "GET / HTTP/1.1\r\nÄ: x\r\n\r\n",
  ])
  func whatProgramsReadDifferentlyIsRefused(text: String) {
    #expect(throws: HTTPError.malformed) { try read(text) }
  }

  @Test func aHeadWithoutEndIsRefusedAtItsLimit() throws {
    let limit = HTTPHead.maximumByteCount
    let long = Array("GET / HTTP/1.1\r\nA: ".utf8)
    let letters = [UInt8](repeating: 97, count: limit)
    #expect(try HTTPHead.read(Array((long + letters).prefix(limit - 1))) == nil)
    #expect(throws: HTTPError.tooLong) { try HTTPHead.read(Array((long + letters).prefix(limit))) }
    #expect(throws: HTTPError.tooLong) { try HTTPHead.read(long + letters + Array("\r\n\r\n".utf8)) }
  }

  @Test func bytesThatAreNoTextAreRefusedBeforeTheirEnd() {
    #expect(throws: HTTPError.malformed) { try HTTPHead.read([0x16, 0x03, 0x01, 0x02, 0x00]) }
  }

  @Test func randomBytesNeverTrap() throws {
    var random = SeededGenerator(seed: 17)
    let pieces = ["GET ", "/", " HTTP/1.1", "\r\n", "\r", "\n", ":", " ", "a", "\u{0}", "é", "\r\n\r\n"].map {
      Array($0.utf8)
    }
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...12, using: &random)).flatMap { _ in
        pieces.randomElement(using: &random) ?? []
      }
      guard let read = try? HTTPHead.read(bytes) else { continue }
      #expect(read.byteCount <= bytes.count)
      #expect(read.head.start.count >= 2)
    }
  }
}
