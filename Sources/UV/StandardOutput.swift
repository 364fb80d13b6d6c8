internal import CUV

/// Standard output, whatever it is: a pipe, a socket, a terminal, a file, `/dev/null`.
///
/// Writes are sent in order and never block. It closes with `brokenPipe` when its reader is gone.
public final class StandardOutput {
  private let sink: any ByteSink

  /// An editor that has stopped reading must not make the process grow without limit.
  public static let defaultQueueLimit = 256 << 20

  /// Takes over the descriptor, and closes it at the end.
  public init(on loop: Loop, fileDescriptor: Int32 = 1, queueLimit: Int = defaultQueueLimit) throws(UVError) {
    loop.preconditionOnLoop()
    switch uv_guess_handle(fileDescriptor) {
    case UV_NAMED_PIPE: sink = try PipeStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_TCP: sink = try TCPStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_TTY: sink = try TerminalStream(on: loop, fileDescriptor: fileDescriptor)
    case UV_FILE: sink = FileWriter(on: loop, fileDescriptor: fileDescriptor)
    default: throw .notSupported
    }
    sink.queueLimit = queueLimit
  }

  /// Called when the queue was not empty and is now.
  public var onDrain: (() -> Void)? {
    get { sink.onDrain }
    set { sink.onDrain = newValue }
  }

  /// The last callback, with the error if there was one.
  public var onClose: ((UVError?) -> Void)? {
    get { sink.onClose }
    set { sink.onClose = newValue }
  }

  public var isOpen: Bool { sink.isOpen }

  /// Bytes that were written and that the kernel has not accepted yet.
  public var queuedByteCount: Int { sink.queuedByteCount }

  public func write(_ bytes: [UInt8]) throws(WriteError) { try sink.write(bytes) }

  /// Writes what waits, then closes; `onClose` reports when, and whether everything was written.
  public func shutdownThenClose() { sink.shutdownThenClose() }

  public func close(_ reason: UVError? = nil) { sink.close(reason) }
}
