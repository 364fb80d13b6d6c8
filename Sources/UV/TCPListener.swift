internal import CUV

/// Accepts TCP connections at one address.
public final class TCPListener: Handle {
  /// Called with each connection, which reads nothing until `resumeReading`. A connection that the callback does not
  /// close stays open.
  public var onConnection: ((TCPStream) -> Void)?

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - host: a numeric address; a name is refused as an invalid argument.
  ///   - port: 0 takes a free one, see `address`.
  public init(
    on loop: Loop, host: String, port: UInt16, backlog: Int32 = 128, _ onConnection: @escaping (TCPStream) -> Void
  ) throws(UVError) {
    guard let address = sockaddr_storage(numericHost: host, port: port) else { throw .invalidArgument }
    self.onConnection = onConnection
    try super.init(on: loop, type: UV_TCP) { memory in
      uv_tcp_init(loop.raw, memory.assumingMemoryBound(to: uv_tcp_t.self))
    }
    do {
      try UVError.check(address.withSockaddr { uv_tcp_bind(raw(uv_tcp_t.self), $0, 0) })
      try UVError.check(
        uv_listen(raw(uv_stream_t.self), backlog) { raw, status in
          guard let listener = TCPListener.of(raw) else { return }
          listener.loop.entered { listener.accept(status) }
        })
    } catch {
      close(error)
      throw error
    }
  }

  /// The address where it listens; nil when closed.
  public var address: SocketAddress? {
    guard isOpen else { return nil }
    return sockaddr_storage.read { uv_tcp_getsockname(raw(uv_tcp_t.self), $0, $1) }.flatMap { SocketAddress($0) }
  }

  private func accept(_ status: Int32) {
    guard isOpen, status == 0, let stream = try? TCPStream(on: loop) else { return }
    guard uv_accept(raw(uv_stream_t.self), stream.raw(uv_stream_t.self)) == 0, let onConnection else {
      return stream.close()
    }
    stream.sendSmallWritesAtOnce()
    onConnection(stream)
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onConnection = nil
  }
}
