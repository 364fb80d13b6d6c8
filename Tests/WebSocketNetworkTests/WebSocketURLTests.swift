import Testing

@testable import WebSocketNetwork

struct WebSocketURLTests {
  @Test func aURLHasAHostAPortAndATarget() throws {
    let plain = try #require(WebSocketURL("ws://Example.org"))
    #expect((plain.isSecure, plain.host, plain.port, plain.target) == (false, "example.org", 80, "/"))
    let full = try #require(WebSocketURL("wss://[::1]:4711/sync?token=a%20b"))
    #expect((full.isSecure, full.host, full.port, full.target) == (true, "::1", 4711, "/sync?token=a%20b"))
    #expect(try #require(WebSocketURL("WSS://example.org?x=1")).target == "/?x=1")
  }

  @Test func anotherTextIsNoURL() {
    for text in [
      "", "ws:", "ws://", "http://example.org", "ws://example.org:0", "ws://example.org:99999", "ws://a@example.org",
      "ws://example.org/#x", "ws://::1/", "ws://exa mple.org", "ws://example.org/\r\nX: y", "ws://[]/",
      "ws://" + String(repeating: "a", count: 254), "ws://example.org/" + String(repeating: "a", count: 2000),
    ] {
      #expect(WebSocketURL(text) == nil, "\(text)")
    }
  }

  @Test func aTokenInTheQueryIsNotShown() throws {
    #expect(try #require(WebSocketURL("wss://example.org/?token=secret")).description == "wss://example.org/")
  }
}
