internal import CUV

/// A TCP connection. Small writes go out at once (`TCP_NODELAY`).
public final class TCPStream: ByteStream {
  init(on loop: Loop) throws(UVError) {
    try super.init(on: loop, type: UV_TCP) { memory in
      uv_tcp_init(loop.raw, memory.assumingMemoryBound(to: uv_tcp_t.self))
    }
  }

  /// Takes over a connected socket, and closes it in the end.
  public convenience init(on loop: Loop, fileDescriptor: Int32) throws(UVError) {
    try self.init(on: loop)
    let status = uv_tcp_open(raw(uv_tcp_t.self), fileDescriptor)
    guard status == 0 else {
      close()
      throw UVError(rawValue: status)
    }
    sendSmallWritesAtOnce()
  }

  /// Ours; `nil` when the stream is closed.
  public var localAddress: SocketAddress? {
    guard isOpen else { return nil }
    return sockaddr_storage.read { uv_tcp_getsockname(raw(uv_tcp_t.self), $0, $1) }.flatMap { SocketAddress($0) }
  }

  /// The other side's; `nil` when the stream is closed or the other side is gone.
  public var peerAddress: SocketAddress? {
    guard isOpen else { return nil }
    return sockaddr_storage.read { uv_tcp_getpeername(raw(uv_tcp_t.self), $0, $1) }.flatMap { SocketAddress($0) }
  }

  /// Without it, Nagle's algorithm holds a keystroke back until the one before is acknowledged.
  func sendSmallWritesAtOnce() {
    uv_tcp_nodelay(raw(uv_tcp_t.self), 1)
  }
}
