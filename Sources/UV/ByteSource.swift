/// A source of bytes: a stream, or a file that is read on another thread.
protocol ByteSource: AnyObject {
  var onRead: ((UnsafeRawBufferPointer) -> Void)? { get set }
  var onEnd: (() -> Void)? { get set }
  var onClose: ((UVError?) -> Void)? { get set }
  var isOpen: Bool { get }
  func pauseReading()
  func resumeReading()
  func close(_ reason: UVError?)
}

/// A destination of bytes, which keeps them in order.
protocol ByteSink: AnyObject {
  var onDrain: (() -> Void)? { get set }
  var onClose: ((UVError?) -> Void)? { get set }
  var queueLimit: Int? { get set }
  var queuedByteCount: Int { get }
  var isOpen: Bool { get }
  func write(_ bytes: [UInt8]) throws(WriteError)
  func shutdownThenClose()
  func close(_ reason: UVError?)
}

/// Why bytes were not accepted.
public enum WriteError: Error, Hashable, Sendable {
  /// The other side reads too slowly: this many bytes are waiting already. None of the refused bytes were written.
  case queueFull(queuedByteCount: Int, limit: Int)
  /// The stream is closed, or is closing.
  case closed
  /// The stream failed just now and is closing for this reason.
  case failed(UVError)
}
