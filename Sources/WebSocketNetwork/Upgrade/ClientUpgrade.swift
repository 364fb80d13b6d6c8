import AutomergeRepo

/// A caller's side of an upgrade: its request, and whether the answer makes the connection a WebSocket.
struct ClientUpgrade {
  let url: WebSocketURL
  let token: String?
  private let key: String

  init(_ url: WebSocketURL, token: String?, random: inout RandomSource) {
    (self.url, self.token, key) = (url, token, WebSocketKey.random(from: &random))
  }

  var request: [UInt8] {
    let lines = [
      "GET \(url.target) HTTP/1.1", "Host: \(url.authority)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
    ]
    let authorization = token.map { ["Authorization: Bearer \($0)"] } ?? []
    return Array(((lines + authorization).joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Why the answer refuses the upgrade, in words for a person; nil if it grants it. Redirections are not followed.
  func problem(with head: HTTPHead) -> String? {
    guard head.start[0].hasPrefix("HTTP/1."), let status = Int(head.start[1]) else {
      return "the server does not speak HTTP"
    }
    switch status {
    case 101: break
    case 401, 403: return token == nil ? "the server wants a token" : "the server refuses the token"
    case 301, 302, 303, 307, 308: return "the server has moved to \(head.only("location")?.prefix(200) ?? "elsewhere")"
    default: return "the server answers \(status) instead of a WebSocket"
    }
    guard head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection"),
      head.only("sec-websocket-accept") == WebSocketKey.answer(to: key)
    else { return "the server does not answer as a WebSocket does" }
    // We requested neither.
    guard head.values("sec-websocket-extensions").isEmpty, head.values("sec-websocket-protocol").isEmpty else {
      return "the server wants an extension of WebSocket"
    }
    return nil
  }
}
