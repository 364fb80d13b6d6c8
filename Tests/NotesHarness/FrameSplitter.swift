/// Takes `Content-Length` frames out of a stream, written apart from the service's own reader so that the two check
/// each other.
public struct FrameSplitter: Sendable {
  public enum Failure: Error { case notAHeader(String) }

  private var bytes: [UInt8] = []
  private var start = 0

  public init() {}

  /// Whether no part of a frame is left.
  public var isEmpty: Bool { start == bytes.count }

  public mutating func append(_ more: [UInt8]) { bytes += more }

  /// The next whole body, nil if more bytes are needed.
  public mutating func next() throws -> [UInt8]? {
    guard let headerEnd = endOfHeader() else { return nil }
    let header = String(decoding: bytes[start..<headerEnd - 4], as: UTF8.self)
    var length: Int?
    for line in header.split(separator: "\r\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { throw Failure.notAHeader(header) }
      if parts[0].lowercased() == "content-length" {
        length = Int(parts[1].drop { $0 == " " })
      }
    }
    guard let length, length >= 0 else { throw Failure.notAHeader(header) }
    guard bytes.count - headerEnd >= length else { return nil }
    let body = Array(bytes[headerEnd..<headerEnd + length])
    start = headerEnd + length
    if start == bytes.count || start > 1 << 20 {
      bytes.removeFirst(start)
      start = 0
    }
    return body
  }

  public static func frame(_ body: [UInt8]) -> [UInt8] {
    Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private func endOfHeader() -> Int? {
    var index = start + 3
    while index < bytes.count {
      if bytes[index] == 10, bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 {
        return index + 1
      }
      index += 1
    }
    return nil
  }
}
