internal import CWslay

/// Why a WebSocket connection cannot continue.
enum WebSocketError: Error, Hashable {
  /// The other end broke the protocol; we send it this status.
  case broken(status: UInt16)
  /// Memory ran out.
  case failed(code: Int32)
}

/// The frames of one WebSocket connection, after its upgrade: bytes in and out, messages out and in. Does no I/O.
///
///     open ──our close, or theirs──► closing ──both──► closed
///
/// wslay reads and writes the frames, answers pings, and checks the protocol. It stores nothing of a message:
/// `assembly` does.
final class WebSocketCodec {
  enum Role { case client, server }

  /// Assembles messages from the received frames, and limits their length.
  var assembly: MessageAssembly
  /// Bytes to be sent, which the transport removes.
  private(set) var output: [UInt8] = []
  /// How many bytes of `output`, since the start, answer pings.
  private(set) var pongByteCount = 0

  /// The bytes that wslay may read during `receive`; otherwise empty.
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private let random: () -> [UInt8]
  // Freed in `deinit`. wslay calls back only from within its own functions, which are called only from here, so `self`
  // is alive then.
  private var context: wslay_event_context_ptr?

  /// - Parameter mask: returns four unpredictable bytes. A client masks each frame with new ones.
  init(
    _ role: Role, maximumByteCount: Int, absoluteMaximumByteCount: Int, mask random: @escaping () -> [UInt8]
  ) throws(WebSocketError) {
    assembly = MessageAssembly(maximumByteCount: maximumByteCount, absoluteMaximumByteCount: absoluteMaximumByteCount)
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

  /// Reads received bytes. Afterwards there may be messages, output, or the end.
  /// - Complexity: O(n) in the bytes
  func receive(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
    input = bytes
    defer { input = UnsafeRawBufferPointer(start: nil, count: 0) }
    let status = wslay_event_recv(context)
    try produceOutput()
    guard status == 0 else { throw .failed(code: status) }
    if assembly.isTooLong { wslay_event_queue_close(context, tooBig, nil, 0) }
    try produceOutput()
    guard wslay_event_get_close_sent(context) != 0, !isClosed else { return }
    let sent = wslay_event_get_status_code_sent(context)
    if sent != normal { throw .broken(status: sent) }
  }

  /// Whether the other end has announced the end of the connection.
  var isClosed: Bool { wslay_event_get_close_received(context) != 0 }

  // MARK: Sending

  /// Appends a binary message to the output. Does nothing once the connection is closing.
  /// - Complexity: O(n) in the bytes
  func send(_ message: [UInt8]) throws(WebSocketError) { try queue(UInt8(WSLAY_BINARY_FRAME.rawValue), message) }

  /// Asks the other end for a sign of life.
  func ping() throws(WebSocketError) { try queue(UInt8(WSLAY_PING.rawValue), []) }

  /// Announces to the other end that this side sends no more.
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
    // Nothing may follow a close frame.
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
      WebSocketCodec.of(data)?.assembly.received(
        UnsafeBufferPointer(start: chunk.pointee.data, count: chunk.pointee.data_length))
    },
    on_frame_recv_end_callback: { _, data in WebSocketCodec.of(data)?.assembly.endedFrame() },
    on_msg_recv_callback: nil)

  private static func of(_ data: UnsafeMutableRawPointer?) -> WebSocketCodec? {
    data.map { Unmanaged<WebSocketCodec>.fromOpaque($0).takeUnretainedValue() }
  }

  private func beganFrame(_ frame: wslay_event_on_frame_recv_start_arg) {
    let byteCount = Int(clamping: frame.payload_length)
    if frame.opcode & 8 != 0 {
      if frame.opcode == UInt8(WSLAY_PING.rawValue) { pongByteCount += 14 + byteCount }
      return assembly.beganControlFrame()
    }
    let kind: MessageAssembly.FrameKind =
      switch UInt32(frame.opcode) {
      case WSLAY_CONTINUATION_FRAME.rawValue: .continuation
      case WSLAY_BINARY_FRAME.rawValue: .binary
      default: .text
      }
    assembly.beganFrame(kind, byteCount: byteCount, isFinal: frame.fin != 0)
  }
}
