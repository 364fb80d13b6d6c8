/// Messages on a byte stream, each preceded by its length as four bytes, big-endian.
public enum Frame {
  /// Source: PeerProtocol.md, "Links".
  public static let maximumByteCount = 64 << 20
  /// The limit for a connection whose peer is not known yet.
  public static let maximumByteCountBeforeHandshake = 4 << 10

  /// `body` preceded by its length.
  public static func encode(_ body: [UInt8]) throws(FrameError) -> [UInt8] {
    guard !body.isEmpty else { throw .empty }
    guard body.count <= maximumByteCount else { throw .tooLong(byteCount: body.count, limit: maximumByteCount) }
    var frame: [UInt8] = []
    frame.reserveCapacity(4 + body.count)
    withUnsafeBytes(of: UInt32(body.count).bigEndian) { frame.append(contentsOf: $0) }
    frame.append(contentsOf: body)
    return frame
  }

  /// The log's message about a skipped message that is too long.
  package static let tooLongToSend =
    "does not get what it lacks: it would take a message of over \(maximumByteCount >> 20) MiB"
}

/// Why bytes are not a frame. The stream cannot be read any further then.
public enum FrameError: Error, Hashable, Sendable {
  case empty
  case tooLong(byteCount: Int, limit: Int)
}

/// Splits a byte stream into frames.
///
/// Checks an announced length before it allocates anything; memory grows only with the received bytes.
public struct FrameDecoder: Sendable {
  /// The longest body to accept from now on.
  public var maximumByteCount: Int
  /// Whether a frame that is longer, but within the limit of all frames, is skipped instead of being an error.
  public var skipsTooLong = false

  private var buffer: [UInt8] = []
  /// Where the next frame begins in `buffer`.
  private var start = 0
  /// How many bytes of a skipped frame are still to come.
  private var skippedByteCount = 0

  public init(maximumByteCount: Int = Frame.maximumByteCountBeforeHandshake) {
    self.maximumByteCount = maximumByteCount
  }

  /// How many bytes wait for the rest of their frame.
  public var bufferedByteCount: Int { buffer.count - start }

  /// - Complexity: O(n) in the bytes, amortised.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if start > 0, start >= buffer.count / 2 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next complete body; nil until it has arrived.
  public mutating func next() throws(FrameError) -> [UInt8]? {
    while true {
      skip()
      guard bufferedByteCount >= 4 else { return nil }
      let byteCount = buffer[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard byteCount > 0 else { throw .empty }
      guard byteCount > maximumByteCount else { return take(byteCount) }
      guard skipsTooLong, byteCount <= Frame.maximumByteCount else {
        throw .tooLong(byteCount: byteCount, limit: maximumByteCount)
      }
      skippedByteCount = 4 + byteCount
    }
  }

  /// The body of this length at the beginning; nil until it has arrived.
  private mutating func take(_ byteCount: Int) -> [UInt8]? {
    guard bufferedByteCount >= 4 + byteCount else { return nil }
    let body = Array(buffer[start + 4..<start + 4 + byteCount])
    start += 4 + byteCount
    letGoOfTheRead()
    return body
  }

  private mutating func skip() {
    guard skippedByteCount > 0 else { return }
    let count = min(skippedByteCount, bufferedByteCount)
    skippedByteCount -= count
    start += count
    letGoOfTheRead()
  }

  private mutating func letGoOfTheRead() {
    guard start == buffer.count else { return }
    // The memory of a large frame is released.
    buffer.removeAll(keepingCapacity: buffer.count <= 64 << 10)
    start = 0
  }
}
