/// Assembles binary messages from their frames, and skips text messages.
///
/// The received part of an incomplete message never exceeds `maximumByteCount`.
struct MessageAssembly {
  enum FrameKind { case binary, text, continuation }

  /// The longest message to accept from now on.
  var maximumByteCount: Int
  /// Whether a message that is longer, but within the limit of all messages, is skipped instead of ending the
  /// connection.
  var skipsTooLong = false
  /// Whether a received message ends the connection.
  private(set) var isTooLong = false
  /// How many text messages have been skipped.
  private(set) var textCount = 0

  /// The longest message that is skipped, and the longest frame.
  private let absoluteMaximumByteCount: Int
  private var messages: [[UInt8]] = []
  /// The index of the first message in `messages` that has not been returned.
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

  /// The received bytes of an unfinished message.
  var unfinishedByteCount: Int { message.count }

  // MARK: Frames

  /// A ping, a pong or a close, which may come between the frames of a message.
  mutating func beganControlFrame() { isControl = true }

  mutating func beganFrame(_ kind: FrameKind, byteCount: Int, isFinal: Bool) {
    (isControl, self.isFinal) = (false, isFinal)
    if kind != .continuation {
      isBinary = kind == .binary
      (message, messageByteCount, isSkipped) = ([], 0, !isBinary)
    }
    messageByteCount += byteCount
    guard messageByteCount > maximumByteCount else { return }
    // Nothing of a text is stored, so only one beyond all limits is too long.
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
