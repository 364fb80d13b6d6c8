internal import CWslay

/// Why a WebSocket connection cannot go on.
enum WebSocketError: Error, Hashable {
  /// The other end broke the protocol; it is told this status.
  case broken(status: UInt16)
  /// Memory ran out.
  case failed(code: Int32)
}

/// The frames of one WebSocket connection, after its upgrade: bytes in and out, messages out and in. Does no I/O.
///
///     open ──our close, or theirs──► closing ──both──► closed
///
/// wslay reads and writes the frames, answers pings, and checks the protocol. It keeps nothing of a binary message: what has come of
/// one is kept here, and is never more than `maximumByteCount`. Text messages are passed over.
final class WebSocketCodec {
  enum Role { case client, server }

  /// The longest message that is taken from now on.
  var maximumByteCount: Int
  /// Whether a message that is longer, but within what a message may have at all, is passed over instead of ending the connection.
  var skipsTooLong = false
  /// Bytes to be sent. Whoever sends them takes them.
  private(set) var output: [UInt8] = []
  /// How many text messages have been passed over.
  private(set) var textCount = 0
  /// How many bytes of `output`, ever since the start, answer pings.
  private(set) var pongByteCount = 0

  /// The longest message that is passed over, and the longest frame.
  private let absoluteMaximumByteCount: Int
  /// Bytes that wslay may take during `receive`; elsewhere empty.
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var messages: [[UInt8]] = []
  /// The first in `messages` that has not been taken.
  private var firstMessage = 0
  private var message: [UInt8] = []
  private var messageByteCount = 0
  private var isBinary = false
  private var isSkipped = false
  private var isFinal = false
  private var isControl = false
  private var isTooLong = false
  private let random: () -> [UInt8]
  // Freed in `deinit`. It calls back only from within its own functions, which are called only from here, so `self` lives then.
  private var context: wslay_event_context_ptr?

  /// - Parameter mask: four bytes that nobody can foresee. A client masks each frame with new ones.
  init(
    _ role: Role, maximumByteCount: Int, absoluteMaximumByteCount: Int, mask random: @escaping () -> [UInt8]
  ) throws(WebSocketError) {
    (self.maximumByteCount, self.absoluteMaximumByteCount) = (maximumByteCount, absoluteMaximumByteCount)
    self.random = random
    var callbacks = Self.callbacks
    let data = Unmanaged.passUnretained(self).toOpaque()
    let status =
      switch role {
      case .client: wslay_event_context_client_init(&context, &callbacks, data)
      case .server: wslay_event_context_server_init(&context, &callbacks, data)
      }
    guard status == 0 else { throw .failed(code: status) }
    wslay_event_config_set_no_buffering(context, 1)
    wslay_event_config_set_max_recv_msg_length(context, UInt64(absoluteMaximumByteCount))
  }

  deinit { if context != nil { wslay_event_context_free(context) } }

  // MARK: Receiving

  /// Takes bytes that have come. Afterwards there may be messages, output, or the end.
  /// - Complexity: O(n) in the bytes
  func receive(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
    input = bytes
    defer { input = UnsafeRawBufferPointer(start: nil, count: 0) }
    let status = wslay_event_recv(context)
    try produceOutput()
    guard status == 0 else { throw .failed(code: status) }
    if isTooLong { wslay_event_queue_close(context, tooBig, nil, 0) }
    try produceOutput()
    guard wslay_event_get_close_sent(context) != 0, !isClosed else { return }
    let sent = wslay_event_get_status_code_sent(context)
    if sent != normal { throw .broken(status: sent) }
  }

  /// The next message that has come in whole; nil until there is one.
  func nextMessage() -> [UInt8]? {
    guard firstMessage < messages.count else { return nil }
    defer {
      firstMessage += 1
      if firstMessage == messages.count { (messages, firstMessage) = ([], 0) }
    }
    return messages[firstMessage]
  }

  /// The bytes that have come of a message that is not whole.
  var unfinishedByteCount: Int { message.count }

  /// Whether the other end has said that it ends the connection.
  var isClosed: Bool { wslay_event_get_close_received(context) != 0 }

  // MARK: Sending

  /// Appends a binary message to the output. Does nothing once the connection is closing.
  /// - Complexity: O(n) in the bytes
  func send(_ message: [UInt8]) throws(WebSocketError) { try queue(UInt8(WSLAY_BINARY_FRAME.rawValue), message) }

  /// Asks the other end for a sign of life.
  func ping() throws(WebSocketError) { try queue(UInt8(WSLAY_PING.rawValue), []) }

  /// Tells the other end that this was all.
  func close() throws(WebSocketError) {
    wslay_event_queue_close(context, normal, nil, 0)
    try produceOutput()
  }

  func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  private var normal: UInt16 { UInt16(WSLAY_CODE_NORMAL_CLOSURE.rawValue) }
  private var tooBig: UInt16 { UInt16(WSLAY_CODE_MESSAGE_TOO_BIG.rawValue) }

  private func queue(_ opcode: UInt8, _ bytes: [UInt8]) throws(WebSocketError) {
    let status = bytes.withUnsafeBufferPointer {
      var message = wslay_event_msg(opcode: opcode, msg: $0.baseAddress, msg_length: $0.count)
      return wslay_event_queue_msg(context, &message)
    }
    // Nothing can be said any more after a close.
    guard status != WSLAY_ERR_NO_MORE_MSG.rawValue else { return }
    guard status == 0 else { throw .failed(code: status) }
    try produceOutput()
  }

  private func produceOutput() throws(WebSocketError) {
    let status = wslay_event_send(context)
    guard status == 0 else { throw .failed(code: status) }
  }

  // MARK: What wslay calls

  private static let callbacks = wslay_event_callbacks(
    recv_callback: { context, buffer, length, _, data in
      guard let codec = WebSocketCodec.of(data), let buffer, !codec.input.isEmpty else {
        wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
        return -1
      }
      let count = min(length, codec.input.count)
      UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: codec.input[..<count]))
      codec.input = UnsafeRawBufferPointer(rebasing: codec.input[count...])
      return count
    },
    send_callback: { _, bytes, length, _, data in
      WebSocketCodec.of(data)?.output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
      return length
    },
    genmask_callback: { _, buffer, length, data in
      guard let codec = WebSocketCodec.of(data), let buffer else { return -1 }
      UnsafeMutableRawBufferPointer(start: buffer, count: length).copyBytes(from: codec.random().prefix(length))
      return 0
    },
    on_frame_recv_start_callback: { _, frame, data in
      guard let frame else { return }
      WebSocketCodec.of(data)?.beganFrame(frame.pointee)
    },
    on_frame_recv_chunk_callback: { _, chunk, data in
      guard let chunk else { return }
      WebSocketCodec.of(data)?.received(
        UnsafeBufferPointer(start: chunk.pointee.data, count: chunk.pointee.data_length))
    },
    on_frame_recv_end_callback: { _, data in WebSocketCodec.of(data)?.endedFrame() },
    on_msg_recv_callback: nil)

  private static func of(_ data: UnsafeMutableRawPointer?) -> WebSocketCodec? {
    data.map { Unmanaged<WebSocketCodec>.fromOpaque($0).takeUnretainedValue() }
  }

  private func beganFrame(_ frame: wslay_event_on_frame_recv_start_arg) {
    isControl = frame.opcode & 8 != 0
    guard !isControl else {
      if frame.opcode == UInt8(WSLAY_PING.rawValue) { pongByteCount += 14 + Int(clamping: frame.payload_length) }
      return
    }
    if frame.opcode != UInt8(WSLAY_CONTINUATION_FRAME.rawValue) {
      isBinary = frame.opcode == UInt8(WSLAY_BINARY_FRAME.rawValue)
      (message, messageByteCount, isSkipped) = ([], 0, !isBinary)
    }
    isFinal = frame.fin != 0
    let byteCount = messageByteCount + Int(clamping: frame.payload_length)
    messageByteCount = byteCount
    guard byteCount > maximumByteCount else { return }
    // Of a text nothing is kept, so only the longest is too long.
    if byteCount > absoluteMaximumByteCount || isBinary && !skipsTooLong { isTooLong = true }
    (message, isSkipped) = ([], true)
  }

  private func received(_ bytes: UnsafeBufferPointer<UInt8>) {
    if !isControl, !isSkipped { message.append(contentsOf: bytes) }
  }

  private func endedFrame() {
    guard !isControl, isFinal else { return }
    if !isBinary { textCount += 1 }
    if !isSkipped { messages.append(message) }
    message = []
  }
}
