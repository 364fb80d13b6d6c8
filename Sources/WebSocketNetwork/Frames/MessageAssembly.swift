/// Assembles binary messages from their frames, and skips text messages.
///
/// The received part of an incomplete message never exceeds `maximumByteCount`.
struct MessageAssembly {
  enum FrameKind { case binary, text, continuation }

  /// The longest message that is taken from now on.
  var maximumByteCount: Int
  /// Whether a message that is longer, but within what a message may have at all, is passed over instead of ending the connection.
  var skipsTooLong = false
  /// Whether a received message ends the connection.
  private(set) var isTooLong = false
  /// How many text messages have been passed over.
  private(set) var textCount = 0

  /// The longest message that is passed over, and the longest frame.
  private let absoluteMaximumByteCount: Int
  private var messages: [[UInt8]] = []
  /// The first in `messages` that has not been taken.
  private var firstMessage = 0
  private var message: [UInt8] = []
  private var messageByteCount = 0
  private var isBinary = false
  private var isSkipped = false
  private var isFinal = false
  private var isControl = false

  init(maximumByteCount: Int, absoluteMaximumByteCount: Int) {
    (self.maximumByteCount, self.absoluteMaximumByteCount) = (maximumByteCount, absoluteMaximumByteCount)
  }

  /// The next complete message; nil until there is one.
  mutating func next() -> [UInt8]? {
    guard firstMessage < messages.count else { return nil }
    defer {
      firstMessage += 1
      if firstMessage == messages.count { (messages, firstMessage) = ([], 0) }
    }
    return messages[firstMessage]
  }

  /// The bytes that have come of a message that is not whole.
  var unfinishedByteCount: Int { message.count }

  // MARK: Frames

  /// A ping, a pong, or the end: it may come between the frames of a message.
  mutating func beganControlFrame() { isControl = true }

  mutating func beganFrame(_ kind: FrameKind, byteCount: Int, isFinal: Bool) {
    (isControl, self.isFinal) = (false, isFinal)
    if kind != .continuation {
      isBinary = kind == .binary
      (message, messageByteCount, isSkipped) = ([], 0, !isBinary)
    }
    messageByteCount += byteCount
    guard messageByteCount > maximumByteCount else { return }
    // Of a text nothing is kept, so only the longest is too long.
    if messageByteCount > absoluteMaximumByteCount || isBinary && !skipsTooLong { isTooLong = true }
    (message, isSkipped) = ([], true)
  }

  mutating func received(_ bytes: UnsafeBufferPointer<UInt8>) {
    if !isControl, !isSkipped { message.append(contentsOf: bytes) }
  }

  mutating func endedFrame() {
    guard !isControl, isFinal else { return }
    if !isBinary { textCount += 1 }
    if !isSkipped { messages.append(message) }
    message = []
  }
}
