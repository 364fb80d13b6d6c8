internal import CUV

/// One read, write or close of a descriptor on libuv's threads.
final class FileOperation {
  private let loop: Loop
  private var done: ((Int) -> Void)?
  /// A copy of the bytes to write: freed with this object, which the request retains until its callback.
  private let bytes: UnsafeMutableRawBufferPointer?
  /// Allocated in `init` and freed in the callback, which libuv always calls after the operation has started.
  private let request = UnsafeMutablePointer<uv_fs_t>.allocate(capacity: 1)

  private init(on loop: Loop, copying bytes: ArraySlice<UInt8>? = nil, done: @escaping (Int) -> Void) {
    self.loop = loop
    self.done = done
    self.bytes = bytes.map { bytes in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      bytes.withUnsafeBytes { copy.copyMemory(from: $0) }
      return copy
    }
    request.initialize(to: uv_fs_t())
  }

  deinit { bytes?.deallocate() }

  /// - Parameters:
  ///   - buffer: must stay valid until `done`
  ///   - done: called with the number of bytes, 0 at the end of the file, or an error's negative code; never inside
  ///     this call
  static func read(
    on loop: Loop, _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, done: @escaping (Int) -> Void
  ) -> FileOperation {
    let operation = FileOperation(on: loop, done: done)
    operation.start { request, callback in
      var target = uv_buf_t(base: buffer.baseAddress?.assumingMemoryBound(to: CChar.self), len: buffer.count)
      return uv_fs_read(loop.raw, request, descriptor, &target, 1, -1, callback)
    }
    return operation
  }

  static func write(
    on loop: Loop, _ descriptor: Int32, _ bytes: ArraySlice<UInt8>, done: @escaping (Int) -> Void
  ) -> FileOperation {
    let operation = FileOperation(on: loop, copying: bytes, done: done)
    operation.start { request, callback in
      let copy = operation.bytes
      var source = uv_buf_t(base: copy?.baseAddress?.assumingMemoryBound(to: CChar.self), len: copy?.count ?? 0)
      return uv_fs_write(loop.raw, request, descriptor, &source, 1, -1, callback)
    }
    return operation
  }

  static func close(on loop: Loop, _ descriptor: Int32) {
    FileOperation(on: loop) { _ in }.start { request, callback in uv_fs_close(loop.raw, request, descriptor, callback) }
  }

  /// Cancels the operation if no thread has started it. Calls `done` in either case.
  func cancel() {
    guard done != nil else { return }
    uv_cancel(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
  }

  private func start(_ begin: (UnsafeMutablePointer<uv_fs_t>, uv_fs_cb) -> Int32) {
    loop.preconditionOnLoop()
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let status = begin(request) { request in
      guard let request, let data = request.pointee.data else { return }
      let operation = Unmanaged<FileOperation>.fromOpaque(data).takeRetainedValue()
      let result = request.pointee.result
      operation.loop.entered { operation.finish(result) }
    }
    if status < 0 {
      Unmanaged.passUnretained(self).release()
      loop.later { [self] in finish(Int(status)) }
    }
  }

  private func finish(_ result: Int) {
    guard let done else { return }
    self.done = nil
    uv_fs_req_cleanup(request)
    request.deallocate()
    done(result)
  }
}
