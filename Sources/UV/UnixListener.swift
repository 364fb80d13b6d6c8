internal import CUV

/// Accepts connections at a unix socket. Closing removes the socket's file.
public final class UnixListener: Handle {
  /// Called with each connection, which reads nothing until `resumeReading`. A connection that the callback does not
  /// close stays open.
  public var onConnection: ((PipeStream) -> Void)?

  /// Starts listening. Fails with `addressInUse` if the file exists, even if no process listens on it any more.
  public init(
    on loop: Loop, path: String, backlog: Int32 = 128, _ onConnection: @escaping (PipeStream) -> Void
  ) throws(UVError) {
    try UnixSocketPath.check(path)
    self.onConnection = onConnection
    try super.init(on: loop, type: UV_NAMED_PIPE) { memory in
      uv_pipe_init(loop.raw, memory.assumingMemoryBound(to: uv_pipe_t.self), 0)
    }
    do {
      try UVError.check(uv_pipe_bind(raw(uv_pipe_t.self), path))
      try UVError.check(
        uv_listen(raw(uv_stream_t.self), backlog) { raw, status in
          guard let listener = UnixListener.of(raw) else { return }
          listener.loop.entered { listener.accept(status) }
        })
    } catch {
      close(error)
      throw error
    }
  }

  private func accept(_ status: Int32) {
    guard isOpen, status == 0, let stream = try? PipeStream(on: loop) else { return }
    guard uv_accept(raw(uv_stream_t.self), stream.raw(uv_stream_t.self)) == 0, let onConnection else {
      return stream.close()
    }
    onConnection(stream)
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onConnection = nil
  }
}
