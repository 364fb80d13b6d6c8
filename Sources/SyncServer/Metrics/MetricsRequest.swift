/// One HTTP request for the page of metrics, as far as it has arrived. Accepts no body, and answers one request per
/// connection.
struct MetricsRequest {
  /// More than any monitoring program sends.
  static let maximumByteCount = 8 << 10

  enum Answer: Equatable {
    case page(isHead: Bool)
    case badRequest, notFound, methodNotAllowed, tooLong
  }

  private var bytes: [UInt8] = []
  private var isAnswered = false

  /// Receives more of the request. Returns the answer once, when the header is complete; nil before and after that.
  mutating func receive(_ news: some Collection<UInt8>) -> Answer? {
    guard !isAnswered else { return nil }
    let examinedCount = max(bytes.count - 3, 0)
    bytes += news.prefix(Self.maximumByteCount + 1 - bytes.count)
    let end = headerEnd(from: examinedCount)
    guard end != nil || bytes.count > Self.maximumByteCount else { return nil }
    isAnswered = true
    return end.map { Self.answer(to: bytes[..<$0]) } ?? .tooLong
  }

  /// The position of the empty line, if it does not begin before `start`.
  private func headerEnd(from start: Int) -> Int? {
    bytes.indices[start...].first { start in
      let rest = bytes[start...]
      return rest.starts(with: [13, 10, 13, 10]) || rest.starts(with: [10, 10])
    }
  }

  private static func answer(to header: ArraySlice<UInt8>) -> Answer {
    let line = header.prefix { $0 != 13 && $0 != 10 }
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[2].starts(with: Array("HTTP/1.".utf8)), words[1].first == UInt8(ascii: "/") else {
      return .badRequest
    }
    guard words[1].prefix(while: { $0 != UInt8(ascii: "?") }).elementsEqual("/metrics".utf8) else { return .notFound }
    if words[0].elementsEqual("GET".utf8) { return .page(isHead: false) }
    return words[0].elementsEqual("HEAD".utf8) ? .page(isHead: true) : .methodNotAllowed
  }
}

extension MetricsRequest.Answer {
  /// The whole response.
  func response(page: () -> String) -> [UInt8] {
    let (status, type, body) =
      switch self {
      case .page: ("200 OK", MetricsText.contentType, page())
      case .badRequest: ("400 Bad Request", "text/plain", "Not an HTTP request.\n")
      case .notFound: ("404 Not Found", "text/plain", "The metrics are at /metrics.\n")
      case .methodNotAllowed: ("405 Method Not Allowed", "text/plain", "Only GET and HEAD.\n")
      case .tooLong: ("431 Request Header Fields Too Large", "text/plain", "The header is too long.\n")
      }
    let bytes = Array(body.utf8)
    let allow = self == .methodNotAllowed ? "Allow: GET, HEAD\r\n" : ""
    let head =
      "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(bytes.count)\r\n\(allow)Connection: close\r\n\r\n"
    return Array(head.utf8) + (self == .page(isHead: true) ? [] : bytes)
  }
}
