internal import CUV

/// A two-way stream of bytes: TCP, a unix socket, a pipe, a terminal.
///
/// Reading starts with `resumeReading`. Writing never blocks: what the kernel does not accept at once waits in a queue.
public class ByteStream: Handle, ByteSource, ByteSink {
  /// Called with bytes that are valid until it returns.
  public var onRead: ((UnsafeRawBufferPointer) -> Void)?
  /// The other side sends no more; it may still read. Without a callback the stream closes.
  public var onEnd: (() -> Void)?
  /// Called when the queue was not empty and is now.
  public var onDrain: (() -> Void)?
  /// A write that would leave more bytes than this in the queue is refused, unless the queue is empty.
  public var queueLimit: Int?

  private var isShuttingDown = false

  private var stream: UnsafeMutablePointer<uv_stream_t> { raw(uv_stream_t.self) }

  /// Bytes that were written and that the kernel has not accepted yet.
  public var queuedByteCount: Int { isOpen ? uv_stream_get_write_queue_size(stream) : 0 }

  /// Starts or resumes reading.
  public func resumeReading() {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    let status = uv_read_start(
      stream,
      { raw, _, buffer in
        guard let buffer, let stream = ByteStream.of(raw) else { return }
        let memory = stream.loop.readBuffer
        buffer.pointee = uv_buf_t(base: memory.baseAddress?.assumingMemoryBound(to: CChar.self), len: memory.count)
      },
      { raw, count, buffer in
        guard let stream = ByteStream.of(raw) else { return }
        stream.loop.entered { stream.didRead(count, buffer?.pointee.base) }
      })
    // Reading already is not an error.
    if status < 0, status != UV_EALREADY.rawValue { close(UVError(rawValue: status)) }
  }

  /// Stops reading, so that the other side has to wait. If the stream ends meanwhile, resuming reports it.
  public func pauseReading() {
    loop.preconditionOnLoop()
    guard isOpen else { return }
    uv_read_stop(stream)
  }

  private func didRead(_ count: Int, _ base: UnsafeMutablePointer<CChar>?) {
    guard isOpen, count != 0 else { return }
    if count > 0 {
      if !isShuttingDown { onRead?(UnsafeRawBufferPointer(start: base, count: count)) }
    } else if count != Int(UV_EOF.rawValue) {
      close(UVError(rawValue: Int32(truncatingIfNeeded: count)))
    } else if let onEnd, !isShuttingDown {
      onEnd()
    } else if !isShuttingDown {
      close()
    }
  }

  /// Sends bytes after all that were written before: at once as much as fits, the rest as the other side reads.
  public func write(_ bytes: [UInt8]) throws(WriteError) {
    loop.preconditionOnLoop()
    guard isOpen, !isShuttingDown else { throw .closed }
    guard !bytes.isEmpty else { return }
    let queued = queuedByteCount
    if let queueLimit, queued > 0, queued + bytes.count > queueLimit {
      throw .queueFull(queuedByteCount: queued, limit: queueLimit)
    }
    do {
      let written = queued == 0 ? try writeNow(bytes) : 0
      if written < bytes.count { try queue(bytes[written...]) }
    } catch {
      close(error)
      throw .failed(error)
    }
  }

  private func writeNow(_ bytes: [UInt8]) throws(UVError) -> Int {
    let result = bytes.withUnsafeBytes { bytes in
      var buffer = uv_buf_t(base: Self.mutable(bytes.baseAddress), len: bytes.count)
      return uv_try_write(stream, &buffer, 1)
    }
    if result == UV_EAGAIN.rawValue { return 0 }
    return Int(try UVError.check(result))
  }

  private func queue(_ bytes: ArraySlice<UInt8>) throws(UVError) {
    // One block holds the request and a copy of the bytes. The write callback, which libuv always calls, frees it.
    let offset = MemoryLayout<uv_write_t>.stride
    let block = UnsafeMutableRawPointer.allocate(byteCount: offset + bytes.count, alignment: 16)
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(start: block + offset, count: bytes.count).copyMemory(from: $0)
    }
    let request = block.bindMemory(to: uv_write_t.self, capacity: 1)
    var buffer = uv_buf_t(base: Self.mutable(block + offset), len: bytes.count)
    let status = uv_write(request, stream, &buffer, 1) { request, status in
      guard let request else { return }
      let stream = ByteStream.of(request.pointee.handle)
      UnsafeMutableRawPointer(request).deallocate()
      guard let stream else { return }
      stream.loop.entered { stream.didWrite(status) }
    }
    guard status == 0 else {
      block.deallocate()
      throw UVError(rawValue: status)
    }
  }

  private func didWrite(_ status: Int32) {
    guard isOpen else { return }
    if status < 0 {
      close(UVError(rawValue: status))
    } else if queuedByteCount == 0 {
      onDrain?()
    }
  }

  private static func mutable(_ base: UnsafeRawPointer?) -> UnsafeMutablePointer<CChar>? {
    UnsafeMutableRawPointer(mutating: base)?.assumingMemoryBound(to: CChar.self)
  }

  /// Sends what waits, announces the end to the other side, and closes. Accepts no more writes, reports no more reads.
  public func shutdownThenClose() {
    shutdownThenClose(within: nil)
  }

  /// - Parameter deadline: closes with `timedOut` when the other side has not read everything by then.
  public func shutdownThenClose(within deadline: Duration?) {
    loop.preconditionOnLoop()
    guard isOpen, !isShuttingDown else { return }
    isShuttingDown = true
    // The callback, which libuv always calls, frees it.
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    let status = uv_shutdown(request, stream) { request, status in
      guard let request else { return }
      let stream = ByteStream.of(request.pointee.handle)
      request.deallocate()
      guard let stream else { return }
      // A peer that is gone need not be told.
      let isHarmless = status == 0 || status == UV_ENOTCONN.rawValue
      stream.loop.entered { stream.close(isHarmless ? nil : UVError(rawValue: status)) }
    }
    if status < 0 {
      request.deallocate()
      close()
    } else if let deadline {
      closeAfter(deadline)
    }
  }

  private func closeAfter(_ deadline: Duration) {
    guard let timer = try? loop.after(deadline, { [weak self] in self?.close(.timedOut) }) else { return }
    let report = onClose
    onClose = { reason in
      timer.close()
      report?(reason)
    }
  }

  override func dropCallbacks() {
    super.dropCallbacks()
    onRead = nil
    onEnd = nil
    onDrain = nil
  }
}
