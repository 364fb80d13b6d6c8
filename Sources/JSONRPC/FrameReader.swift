/// Why a byte stream cannot be split into frames. Nothing after the error can be trusted.
public enum FrameError: Error, Equatable {
  case headerTooLarge(limit: Int)
  case malformedHeader
  case missingContentLength
  case invalidContentLength
  case conflictingContentLengths
  case frameTooLarge(limit: Int)
}

extension FrameError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .headerTooLarge(let limit): "the header is larger than \(limit) bytes"
    case .malformedHeader: "the header has a line that is not \"Name: value\""
    case .missingContentLength: "the header has no Content-Length"
    case .invalidContentLength: "the Content-Length is not a number of bytes"
    case .conflictingContentLengths: "the header has two different Content-Lengths"
    case .frameTooLarge(let limit): "the frame is larger than \(limit) bytes"
    }
  }
}

/// Splits a byte stream into the bodies of LSP's frames: `Content-Length: 5\r\n\r\nhello`.
///
///     header ──blank line──► body ──last byte──► header
///        └───────── anything wrong ─────────────► failed, for good
///
/// Any other headers are skipped. Memory grows with the received bytes, never with an announced length.
public struct FrameReader: Sendable {
  public static let defaultHeaderLimit = 8 << 10
  /// Fits the longest text that a note's file may have, 128 MiB, even if every byte is escaped as six.
  public static let defaultFrameLimit = 1 << 30

  private enum State {
    case header
    case body(byteCount: Int)
    case failed(FrameError)
  }

  private let headerLimit: Int
  private let frameLimit: Int
  private var state = State.header
  private var buffer: [UInt8] = []
  /// Where the unread bytes start in `buffer`.
  private var start = 0
  /// The search for the header's end has reached this position.
  private var searched = 0

  public init(frameLimit: Int = defaultFrameLimit, headerLimit: Int = defaultHeaderLimit) {
    self.frameLimit = frameLimit
    self.headerLimit = headerLimit
  }

  /// Received bytes that do not make a whole frame yet.
  public var unreadByteCount: Int { buffer.count - start }

  public mutating func append(_ bytes: some Sequence<UInt8>) {
    if case .failed = state { return }
    buffer.append(contentsOf: bytes)
  }

  /// The next complete body; nil until more bytes come.
  /// - Complexity: O(n) in the bytes received, over all calls.
  public mutating func next() throws(FrameError) -> [UInt8]? {
    switch state {
    case .failed(let error): throw error
    case .header:
      guard let byteCount = try readHeader() else { return nil }
      state = .body(byteCount: byteCount)
      return readBody(byteCount: byteCount)
    case .body(let byteCount): return readBody(byteCount: byteCount)
    }
  }

  private mutating func readBody(byteCount: Int) -> [UInt8]? {
    guard unreadByteCount >= byteCount else { return nil }
    let body = Array(buffer[start..<start + byteCount])
    consume(byteCount)
    state = .header
    return body
  }

  private mutating func readHeader() throws(FrameError) -> Int? {
    guard let end = findHeaderEnd() else {
      guard unreadByteCount < headerLimit else { throw fail(.headerTooLarge(limit: headerLimit)) }
      return nil
    }
    guard end - start <= headerLimit else { throw fail(.headerTooLarge(limit: headerLimit)) }
    let header = buffer[start..<end]
    do {
      let byteCount = try contentLength(of: header)
      consume(end - start)
      return byteCount
    } catch {
      throw fail(error)
    }
  }

  /// The position after the blank line that ends the header.
  private mutating func findHeaderEnd() -> Int? {
    // A header may consist of only the blank line; it is then refused because it lacks a length.
    var position = max(searched, start)
    while position < buffer.count {
      let byte = buffer[position]
      position += 1
      guard byte == UInt8(ascii: "\n") else { continue }
      let length = position - start
      let isBlank = length == 2 && buffer[start] == UInt8(ascii: "\r")
      if isBlank || (length >= 4 && buffer[position - 4..<position].elementsEqual("\r\n\r\n".utf8)) { return position }
    }
    searched = position
    return nil
  }

  private func contentLength(of header: ArraySlice<UInt8>) throws(FrameError) -> Int {
    var found: Int?
    for line in header.split(separator: UInt8(ascii: "\n")) {
      guard line.last == UInt8(ascii: "\r") else { throw .malformedHeader }
      let line = line.dropLast()
      if line.isEmpty { continue }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformedHeader }
      guard Self.isContentLength(line[..<colon]) else { continue }
      let value = try number(line[(colon + 1)...])
      if let found, found != value { throw .conflictingContentLengths }
      found = value
    }
    guard let found else { throw .missingContentLength }
    return found
  }

  private static func isContentLength(_ name: ArraySlice<UInt8>) -> Bool {
    trimmed(name).elementsEqual("content-length".utf8) { byte, expected in
      (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte) == expected
    }
  }

  private func number(_ field: ArraySlice<UInt8>) throws(FrameError) -> Int {
    let digits = Self.trimmed(field)
    guard !digits.isEmpty else { throw .invalidContentLength }
    var value = 0
    for byte in digits {
      let digit = byte &- UInt8(ascii: "0")
      guard digit < 10 else { throw .invalidContentLength }
      // Once the value is above the limit it stays as it is, so that no number of digits overflows.
      if value <= frameLimit { value = value * 10 + Int(digit) }
    }
    guard value <= frameLimit else { throw .frameTooLarge(limit: frameLimit) }
    return value
  }

  private static func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var slice = slice.drop(while: isBlank)
    while let last = slice.last, isBlank(last) { slice.removeLast() }
    return slice
  }

  /// Removes bytes that were read: all at once when none are left, otherwise when they are the larger part, so that
  /// each byte moves O(1) times.
  private mutating func consume(_ byteCount: Int) {
    start += byteCount
    if start == buffer.count {
      // One large frame must not occupy its memory for the rest of the session.
      if buffer.capacity > 1 << 20 { buffer = [] } else { buffer.removeAll(keepingCapacity: true) }
      start = 0
    } else if start > buffer.count / 2 {
      buffer.removeFirst(start)
      start = 0
    }
    searched = start
  }

  private mutating func fail(_ error: FrameError) -> FrameError {
    state = .failed(error)
    buffer = []
    start = 0
    return error
  }
}
