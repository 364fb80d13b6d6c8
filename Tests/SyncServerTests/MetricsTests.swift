import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import SyncServer

struct MetricsTests {
  private func answer(_ request: String) -> MetricsRequest.Answer? {
    var parser = MetricsRequest()
    return parser.receive(Array(request.utf8))
  }

  @Test func onlyThePageIsAnswered() {
    #expect(answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") == .page(isHead: false))
    #expect(answer("GET /metrics?x=1 HTTP/1.0\n\n") == .page(isHead: false))
    #expect(answer("HEAD /metrics HTTP/1.1\r\n\r\n") == .page(isHead: true))
    #expect(answer("GET / HTTP/1.1\r\n\r\n") == .notFound)
    #expect(answer("GET /metricsx HTTP/1.1\r\n\r\n") == .notFound)
    #expect(answer("POST /metrics HTTP/1.1\r\n\r\n") == .methodNotAllowed)
    for wrong in ["\r\n\r\n", "GET\r\n\r\n", "GET metrics HTTP/1.1\r\n\r\n", "GET /metrics SSH/2\r\n\r\n"] {
      #expect(answer(wrong) == .badRequest, "\(wrong)")
    }
  }

  @Test func aRequestMayComeInPieces() {
    var parser = MetricsRequest()
    let bytes = Array("GET /metrics HTTP/1.1\r\nA: b\r\n\r\n".utf8)
    for byte in bytes.dropLast() { #expect(parser.receive([byte]) == nil) }
    #expect(parser.receive(bytes.suffix(1)) == .page(isHead: false))
    #expect(parser.receive(bytes) == nil, "a connection gets one answer")
  }

  @Test func aHeaderWithoutEndIsNotGathered() {
    var parser = MetricsRequest()
    let line = Array("GET /metrics HTTP/1.1\r\nA: \(String(repeating: "b", count: 1 << 20))".utf8)
    #expect(parser.receive(line) == .tooLong)
  }

  @Test func aHistogramCountsEachClassWithAllBelowIt() {
    var times = LatencyHistogram(bounds: [.milliseconds(1), .milliseconds(10)])
    for time in [0.5, 1, 2, 20] { times.note(.milliseconds(time)) }
    var page = MetricsText()
    page.histogram("x_seconds", "Times.", times)
    #expect(
      page.text == """
        # HELP x_seconds Times.
        # TYPE x_seconds histogram
        x_seconds_bucket{le="0.001"} 2
        x_seconds_bucket{le="0.01"} 3
        x_seconds_bucket{le="+Inf"} 4
        x_seconds_sum 0.0235
        x_seconds_count 4

        """)
  }

  @Test func labelsAreEscaped() {
    var page = MetricsText()
    page.gauge("x", "X.", by: "name", [("a\"b\\c\nd", 1)])
    #expect(page.text.contains(#"x{name="a\"b\\c\nd"} 1"#))
  }

  @Test func thePageIsServedToManyAndNoCallerHoldsItUp() async throws {
    let (listener, address) = try await TestLoop.run { loop in
      let listener = try MetricsListener(on: loop, host: "127.0.0.1", port: 0) { "page\n" }
      return (listener, try #require(listener.address))
    }
    // More silent callers than there are places.
    let silent = try (0..<40).map { _ in try Caller(address) }
    let good = try Caller(address)
    good.send("GET /metrics HTTP/1.1\r\n\r\n")
    let text = good.readToEnd()
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(text.hasSuffix("\r\n\r\npage\n"))
    let lost = try Caller(address)
    lost.send("GET /other HTTP/1.1\r\n\r\n")
    #expect(lost.readToEnd().hasPrefix("HTTP/1.1 404"))
    #expect(silent.count == 40)
    await Self.stop(listener)
  }

  @AutomergeRepo
  private static func stop(_ listener: MetricsListener) { listener.stop() }
}

/// A blocking socket.
private final class Caller {
  private let descriptor: Int32

  init(_ address: SocketAddress) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = address.port.bigEndian
    target.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
  }

  deinit { close(descriptor) }

  func send(_ text: String) { _ = write(descriptor, text, text.utf8.count) }

  func readToEnd() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
