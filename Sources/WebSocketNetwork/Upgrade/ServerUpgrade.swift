import AutomergeRepo
import PeerTransport

/// Decides how a server answers an HTTP request: with a WebSocket, or with a status and one line of text.
///
/// Only `GET /` with an upgrade gets a WebSocket. The server accepts no extension, so messages are uncompressed, and
/// chooses no subprotocol.
enum ServerUpgrade {
  enum Answer: Equatable {
    /// The bytes to send, after which the connection is a WebSocket.
    case upgrade([UInt8], PeerProof)
    /// The bytes to send before the end.
    case refusal([UInt8], status: Int)
  }

  /// The answer to a request.
  static func answer(
    _ head: HTTPHead, from host: String, authorize: (WebSocketRequest) -> WebSocketAdmission
  ) -> Answer {
    guard head.start.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(head.start[2]), head.start[1].hasPrefix("/") else {
      return refusal(400, "Bad Request")
    }
    let request = WebSocketRequest(head, from: host)
    guard request.path == "/" else { return refusal(404, "Not Found") }
    guard head.start[0] == "GET" else { return refusal(405, "Method Not Allowed", "Allow: GET") }
    guard head.start[2] == "HTTP/1.1", head.lists("websocket", in: "upgrade"), head.lists("upgrade", in: "connection")
    else {
      return refusal(426, "Upgrade Required", "Upgrade: websocket", "Connection: Upgrade")
    }
    guard head.only("sec-websocket-version") == "13" else {
      return refusal(426, "Upgrade Required", "Sec-WebSocket-Version: 13", "Upgrade: websocket", "Connection: Upgrade")
    }
    guard let key = head.only("sec-websocket-key"), WebSocketKey.isValid(key), head.only("host") != nil,
      head.values("content-length").allSatisfy({ $0 == "0" }), head.values("transfer-encoding").isEmpty
    else { return refusal(400, "Bad Request") }
    switch authorize(request) {
    case .refuse: return refusal(401, "Unauthorized", "WWW-Authenticate: Bearer")
    case .accept(let proof):
      let lines = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: \(WebSocketKey.answer(to: key))",
      ]
      return .upgrade(bytes(lines), proof)
    }
  }

  /// The answer to bytes that are no request.
  static func answer(to error: HTTPError) -> Answer {
    switch error {
    case .tooLong: refusal(431, "Request Header Fields Too Large")
    case .malformed: refusal(400, "Bad Request")
    }
  }

  private static func refusal(_ status: Int, _ reason: String, _ fields: String...) -> Answer {
    let body = "\(status) \(reason): peers of automerge-repo connect here by WebSocket, at /\n"
    let lines =
      ["HTTP/1.1 \(status) \(reason)", "Content-Type: text/plain; charset=utf-8", "Content-Length: \(body.utf8.count)"]
      + fields.filter { !$0.hasPrefix("Connection:") } + ["Connection: close"]
    return .refusal(bytes(lines) + Array(body.utf8), status: status)
  }

  private static func bytes(_ lines: [String]) -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
