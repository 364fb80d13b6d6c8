internal import CUV

/// Reads a file from its descriptor's position, on libuv's threads; also `/dev/null`.
final class FileReader: ByteSource {
  private enum State {
    case paused
    case reading
    case ended
    case closing(UVError?)
    case closed
  }

  var onRead: ((UnsafeRawBufferPointer) -> Void)?
  var onEnd: (() -> Void)?
  var onClose: ((UVError?) -> Void)?

  private let loop: Loop
  private let fileDescriptor: Int32
  private var state = State.paused
  /// The read in progress. libuv calls back even after `close`, and uses the buffer until then.
  private var operation: FileOperation?
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// Takes over the descriptor, and closes it at the end.
  init(on loop: Loop, fileDescriptor: Int32) {
    self.loop = loop
    self.fileDescriptor = fileDescriptor
  }

  // An operation in progress holds this object, so the buffer is no longer in use.
  deinit { buffer.deallocate() }

  var isOpen: Bool {
    switch state {
    case .paused, .reading, .ended: true
    case .closing, .closed: false
    }
  }

  func resumeReading() {
    guard case .paused = state else { return }
    state = .reading
    if operation == nil { readNext() }
  }

  func pauseReading() {
    guard case .reading = state else { return }
    state = .paused
  }

  private func readNext() {
    operation = FileOperation.read(on: loop, fileDescriptor, into: buffer) { [self] result in didRead(result) }
  }

  private func didRead(_ result: Int) {
    operation = nil
    if case .closing = state { return finishClosing() }
    if result < 0 {
      close(UVError(rawValue: Int32(truncatingIfNeeded: result)))
    } else if result == 0 {
      state = .ended
      if let onEnd { onEnd() } else { close(nil) }
    } else {
      // These bytes are delivered although reading is paused, because the read started before the pause.
      onRead?(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<result]))
      if case .reading = state { readNext() }
    }
  }

  func close(_ reason: UVError?) {
    guard isOpen else { return }
    state = .closing(reason)
    if let operation { operation.cancel() } else { loop.later { [self] in finishClosing() } }
  }

  private func finishClosing() {
    guard case .closing(let reason) = state else { return }
    state = .closed
    FileOperation.close(on: loop, fileDescriptor)
    let report = onClose
    (onRead, onEnd, onClose) = (nil, nil, nil)
    report?(reason)
  }
}
