internal import CUV

/// A TCP connection. Small writes go out at once (`TCP_NODELAY`).
public final class TCPStream: ByteStream {
  init(on loop: Loop) throws(UVError) {
    try super.init(on: loop, type: UV_TCP) { memory in
      uv_tcp_init(loop.raw, memory.assumingMemoryBound(to: uv_tcp_t.self))
    }
  }

  /// Takes over a connected socket, and closes it at the end.
  public convenience init(on loop: Loop, fileDescriptor: Int32) throws(UVError) {
    try self.init(on: loop)
    let status = uv_tcp_open(raw(uv_tcp_t.self), fileDescriptor)
    guard status == 0 else {
      close()
      throw UVError(rawValue: status)
    }
    sendSmallWritesAtOnce()
  }

  /// Our address; nil when the stream is closed.
  public var localAddress: SocketAddress? {
    guard isOpen else { return nil }
    return sockaddr_storage.read { uv_tcp_getsockname(raw(uv_tcp_t.self), $0, $1) }.flatMap { SocketAddress($0) }
  }

  /// The other side's address; nil when the stream is closed or the other side is gone.
  public var peerAddress: SocketAddress? {
    guard isOpen else { return nil }
    return sockaddr_storage.read { uv_tcp_getpeername(raw(uv_tcp_t.self), $0, $1) }.flatMap { SocketAddress($0) }
  }

  /// Bytes that the kernel has accepted and the other machine has not acknowledged; nil if unknown.
  ///
  /// 0 means that the other machine was reachable when the last of them arrived, whatever the program on it does.
  public var unacknowledgedByteCount: Int? {
    var descriptor: Int32 = -1
    guard isOpen, uv_fileno(raw(uv_handle_t.self), &descriptor) == 0 else { return nil }
    let count = notes_unacknowledged(descriptor)
    return count < 0 ? nil : Int(count)
  }

  /// How many times in a row the kernel has retransmitted without an answer; nil if unknown.
  ///
  /// The kernel of a receiver that merely does not read still answers, so this stays 0.
  public var retransmissionCount: Int? {
    var descriptor: Int32 = -1
    guard isOpen, uv_fileno(raw(uv_handle_t.self), &descriptor) == 0 else { return nil }
    let count = notes_retransmissions(descriptor)
    return count < 0 ? nil : Int(count)
  }

  /// Otherwise Nagle's algorithm holds a keystroke back until the previous one is acknowledged.
  func sendSmallWritesAtOnce() {
    uv_tcp_nodelay(raw(uv_tcp_t.self), 1)
  }
}
