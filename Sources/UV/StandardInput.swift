internal import CUV

/// Standard input, whatever it is: a pipe, a socket, a terminal, a file, `/dev/null`.
///
/// Set the callbacks, then call `resumeReading`.
public final class StandardInput {
  private let source: any ByteSource

  /// Takes over the descriptor, and closes it at the end.
  public init(on loop: Loop, fileDescriptor: Int32 = 0) throws(UVError) {
    loop.preconditionOnLoop()
    switch uv_guess_handle(fileDescriptor) {
    case UV_NAMED_PIPE: source = try PipeStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_TCP: source = try TCPStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_TTY: source = try TerminalStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_FILE: source = FileReader(on: loop, fileDescriptor: fileDescriptor)
    default: throw .notSupported
    }
  }

  /// Called with bytes that are valid until it returns.
  public var onRead: ((UnsafeRawBufferPointer) -> Void)? {
    get { source.onRead }
    set { source.onRead = newValue }
  }

  /// Called at the end of the input. Without a callback the input closes.
  public var onEnd: (() -> Void)? {
    get { source.onEnd }
    set { source.onEnd = newValue }
  }

  /// The last callback, with the error if there was one.
  public var onClose: ((UVError?) -> Void)? {
    get { source.onClose }
    set { source.onClose = newValue }
  }

  public var isOpen: Bool { source.isOpen }

  public func resumeReading() { source.resumeReading() }

  /// Stops reading. One block of a file whose read has started may still come.
  public func pauseReading() { source.pauseReading() }

  public func close(_ reason: UVError? = nil) { source.close(reason) }
}
