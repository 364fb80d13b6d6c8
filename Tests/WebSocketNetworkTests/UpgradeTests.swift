import AutomergeRepo
import PeerTransport
import TestSupport
import Testing

@testable import WebSocketNetwork

struct UpgradeTests {
  private static let fields = [
    "Host: example.org", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
  ]

  private func head(_ start: String, _ fields: [String]) throws -> HTTPHead {
    try #require(try HTTPHead.read(Array(([start] + fields + ["", ""]).joined(separator: "\r\n").utf8))).head
  }

  private func status(_ start: String = "GET / HTTP/1.1", _ fields: [String] = fields) throws -> Int {
    switch ServerUpgrade.answer(try head(start, fields), from: "192.0.2.1", authorize: { _ in .accept(.token("")) }) {
    case .upgrade: 101
    case .refusal(let bytes, let status):
      String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) ") ? status : 0
    }
  }

  private func replacing(_ name: String, by line: String?) -> [String] {
    Self.fields.compactMap { $0.hasPrefix(name) ? line : $0 }
  }

  /// The example of RFC 6455, section 1.3.
  @Test func theAnswerProvesThatTheKeyWasRead() throws {
    #expect(WebSocketKey.answer(to: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    let answer = ServerUpgrade.answer(
      try head("GET / HTTP/1.1", Self.fields), from: "", authorize: { _ in .accept(.sameUser) })
    let expected =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    #expect(answer == .upgrade(Array(expected.utf8), .sameUser))
  }

  @Test func anotherRequestIsAnsweredPlainly() throws {
    #expect(try status() == 101)
    #expect(try status("GET /?token=x HTTP/1.1") == 101)
    #expect(try status("GET /other HTTP/1.1") == 404)
    #expect(try status("GET / HTTP/1.1", ["Host: example.org"]) == 426)
    #expect(try status("GET / HTTP/1.0") == 426)
    #expect(try status("POST / HTTP/1.1") == 405)
    #expect(try status("GET example.org HTTP/1.1") == 400)
    #expect(try status("GET / HTTP/2") == 400)
    #expect(try status("GET /") == 400)
    #expect(try status("GET / HTTP/1.1", replacing("Sec-WebSocket-Version", by: "Sec-WebSocket-Version: 8")) == 426)
    #expect(try status("GET / HTTP/1.1", replacing("Sec-WebSocket-Key", by: "Sec-WebSocket-Key: short")) == 400)
    #expect(try status("GET / HTTP/1.1", replacing("Sec-WebSocket-Key", by: nil)) == 400)
    #expect(try status("GET / HTTP/1.1", replacing("Host", by: nil)) == 400)
    #expect(try status("GET / HTTP/1.1", Self.fields + ["Content-Length: 5"]) == 400)
    #expect(try status("GET / HTTP/1.1", Self.fields + ["Transfer-Encoding: chunked"]) == 400)
  }

  /// What a server gives to everybody is not for a caller with a token that is wrong, nor for a page that hides its site.
  @Test func aTokenOrASiteThatCannotBeReadIsNotTakenForNone() throws {
    func request(_ target: String, _ fields: String...) throws -> WebSocketRequest {
      WebSocketRequest(try head("GET \(target) HTTP/1.1", Self.fields + fields), from: "192.0.2.1")
    }
    #expect(try request("/?token=%ZZ").token == "" && request("/?token=%FF").token == "")
    #expect(try request("/", "Authorization: Bearer").token == "")
    #expect(try request("/", "Authorization: Bearer a", "Authorization: Bearer b").token == "")
    #expect(try request("/", "Origin: https://a.example", "Origin: https://b.example").origin == "")
    #expect(try request("/?token=a%20b").token == "a b" && request("/", "Authorization: bearer a").token == "a")
    #expect(try request("/", "Authorization: Basic YTpi").token == nil && request("/").token == nil)
    #expect(try request("/", "Origin: https://a.example").origin == "https://a.example" && request("/").origin == nil)
  }

  @Test func compressionIsNotAccepted() throws {
    let offer = try head("GET / HTTP/1.1", Self.fields + ["Sec-WebSocket-Extensions: permessage-deflate"])
    guard case .upgrade(let bytes, _) = ServerUpgrade.answer(offer, from: "", authorize: { _ in .accept(.sameUser) })
    else {
      Issue.record("not upgraded")
      return
    }
    #expect(!String(decoding: bytes, as: UTF8.self).lowercased().contains("extensions"))
  }

  @Test func aTokenComesInTheHeadOrInTheQuery() throws {
    func token(_ start: String, _ more: [String] = []) throws -> String? {
      WebSocketRequest(try head(start, Self.fields + more), from: "").token
    }
    #expect(try token("GET / HTTP/1.1") == nil)
    #expect(try token("GET /?token=a%20b&x=1 HTTP/1.1") == "a b")
    #expect(try token("GET /?x=1&token=t HTTP/1.1") == "t")
    #expect(try token("GET / HTTP/1.1", ["Authorization: Bearer secret"]) == "secret")
    #expect(try token("GET /?token=query HTTP/1.1", ["Authorization: bearer head"]) == "head")
    #expect(try token("GET / HTTP/1.1", ["Authorization: Basic secret"]) == nil)
    #expect(try token("GET / HTTP/1.1", ["Authorization: Bearer a", "Authorization: Bearer b"]) == "")
  }

  @Test func aWrongTokenGetsStatus401() throws {
    let answer = ServerUpgrade.answer(try head("GET / HTTP/1.1", Self.fields), from: "", authorize: { _ in .refuse })
    guard case .refusal(let bytes, status: 401) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self).contains("WWW-Authenticate: Bearer\r\n"))
  }

  @Test func aCallerUnderstandsTheServersOfThisPage() throws {
    var random = RandomSource(SeededGenerator(seed: 1))
    let url = try #require(WebSocketURL("ws://example.org:4711/?a=b"))
    let upgrade = ClientUpgrade(url, token: "secret", random: &random)
    let request = try #require(try HTTPHead.read(upgrade.request)).head
    #expect(request.only("host") == "example.org:4711")
    #expect(WebSocketRequest(request, from: "").token == "secret")
    guard case .upgrade(let answer, _) = ServerUpgrade.answer(request, from: "", authorize: { _ in .accept(.sameUser) })
    else {
      Issue.record("refused")
      return
    }
    #expect(upgrade.problem(with: try #require(try HTTPHead.read(answer)).head) == nil)
    // Another key, another answer.
    let other = ClientUpgrade(url, token: nil, random: &random)
    #expect(other.problem(with: try #require(try HTTPHead.read(answer)).head) != nil)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK", "HTTP/1.1 401 Unauthorized", "HTTP/1.1 302 Found\r\nLocation: /x", "HTTP/1.1 500 No",
    "SSH-2.0 101",
    "HTTP/1.1 101 Switching",
    "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x",
  ])
  func aCallerRefusesAllElse(answer: String) throws {
    var random = RandomSource(SeededGenerator(seed: 1))
    let upgrade = ClientUpgrade(try #require(WebSocketURL("ws://example.org")), token: nil, random: &random)
    let head = try #require(try HTTPHead.read(Array((answer + "\r\n\r\n").utf8))).head
    #expect(upgrade.problem(with: head) != nil)
  }
}
