internal import CUV

/// A unix socket's connection, or one end of a pipe.
public final class PipeStream: ByteStream {
  init(on loop: Loop) throws(UVError) {
    try super.init(on: loop, type: UV_NAMED_PIPE) { memory in
      uv_pipe_init(loop.raw, memory.assumingMemoryBound(to: uv_pipe_t.self), 0)
    }
  }

  /// Takes over a pipe or a connected unix socket, and closes it at the end.
  ///
  /// Refuses anything else: libuv would accept a regular file and abort on the first read.
  public convenience init(on loop: Loop, fileDescriptor: Int32) throws(UVError) {
    guard uv_guess_handle(fileDescriptor) == UV_NAMED_PIPE else { throw .invalidArgument }
    try self.init(on: loop)
    let status = uv_pipe_open(raw(uv_pipe_t.self), fileDescriptor)
    guard status == 0 else {
      close()
      throw UVError(rawValue: status)
    }
  }

  /// Connects to a unix socket.
  ///
  /// - Parameter done: called once, never inside this call.
  public static func connect(
    on loop: Loop, path: String, done: @escaping (Result<PipeStream, UVError>) -> Void
  ) {
    do {
      try UnixSocketPath.check(path)
      let stream = try PipeStream(on: loop)
      let attempt = Attempt(stream: stream, done: done)
      // The callback, which libuv always calls, frees the request and releases the attempt.
      let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
      request.pointee.data = Unmanaged.passRetained(attempt).toOpaque()
      uv_pipe_connect(request, stream.raw(uv_pipe_t.self), path) { request, status in
        guard let request, let data = request.pointee.data else { return }
        request.deallocate()
        let attempt = Unmanaged<Attempt>.fromOpaque(data).takeRetainedValue()
        attempt.stream.loop.entered { attempt.finish(status) }
      }
    } catch {
      loop.later { done(.failure(error)) }
    }
  }

  private final class Attempt {
    let stream: PipeStream
    private let done: (Result<PipeStream, UVError>) -> Void

    init(stream: PipeStream, done: @escaping (Result<PipeStream, UVError>) -> Void) {
      self.stream = stream
      self.done = done
    }

    func finish(_ status: Int32) {
      if status == 0 { return done(.success(stream)) }
      let error = UVError(rawValue: status)
      stream.close(error)
      done(.failure(error))
    }
  }
}

/// The kernel's limit for the path of a unix socket.
public enum UnixSocketPath {
  /// The kernel's 108 bytes (104 on macOS) minus the final zero.
  public static let maximumByteCount = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Refuses paths that libuv would silently truncate.
  static func check(_ path: String) throws(UVError) {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidArgument }
    guard path.utf8.count <= maximumByteCount else { throw .nameTooLong }
  }
}
