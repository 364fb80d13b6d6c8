/// Where bytes come from: a stream, or a file read on another thread.
protocol ByteSource: AnyObject {
  var onRead: ((UnsafeRawBufferPointer) -> Void)? { get set }
  var onEnd: (() -> Void)? { get set }
  var onClose: ((UVError?) -> Void)? { get set }
  var isOpen: Bool { get }
  func pauseReading()
  func resumeReading()
  func close(_ reason: UVError?)
}

/// Where bytes go, in the order in which they were written.
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

/// Why bytes were not taken.
public enum WriteError: Error, Hashable, Sendable {
  /// The other side reads too slowly: this many bytes wait already. Nothing of the refused bytes was written.
  case queueFull(queuedByteCount: Int, limit: Int)
  /// It is closed, or about to be.
  case closed
  /// The stream failed just now and is closing for this reason.
  case failed(UVError)
}
