internal import CUV

/// Writes to a file at its descriptor's position, on libuv's threads, one write after the other.
final class FileWriter: ByteSink {
  private enum State {
    case open
    /// Accepts no more bytes; closes when the queue is empty.
    case finishing
    case closing(UVError?)
    case closed
  }

  var onDrain: (() -> Void)?
  var onClose: ((UVError?) -> Void)?
  var queueLimit: Int?
  private(set) var queuedByteCount = 0

  private let loop: Loop
  private let fileDescriptor: Int32
  private var state = State.open
  /// The bytes that wait, without the block that is being written.
  private var queue: [[UInt8]] = []
  private var operation: FileOperation?

  /// Takes over the descriptor, and closes it at the end.
  init(on loop: Loop, fileDescriptor: Int32) {
    self.loop = loop
    self.fileDescriptor = fileDescriptor
  }

  var isOpen: Bool {
    switch state {
    case .open, .finishing: true
    case .closing, .closed: false
    }
  }

  func write(_ bytes: [UInt8]) throws(WriteError) {
    guard case .open = state else { throw .closed }
    guard !bytes.isEmpty else { return }
    if let queueLimit, queuedByteCount > 0, queuedByteCount + bytes.count > queueLimit {
      throw .queueFull(queuedByteCount: queuedByteCount, limit: queueLimit)
    }
    queuedByteCount += bytes.count
    queue.append(bytes)
    if operation == nil { writeNext() }
  }

  /// Writes everything that waits as one block.
  private func writeNext() {
    let block = queue.count == 1 ? queue[0] : Array(queue.joined())
    queue.removeAll(keepingCapacity: true)
    write(block, from: 0)
  }

  private func write(_ block: [UInt8], from start: Int) {
    operation = FileOperation.write(on: loop, fileDescriptor, block[start...]) { [self] result in
      didWrite(result, of: block, from: start)
    }
  }

  private func didWrite(_ result: Int, of block: [UInt8], from start: Int) {
    operation = nil
    if case .closing = state { return finishClosing() }
    guard result >= 0 else { return close(UVError(rawValue: Int32(truncatingIfNeeded: result))) }
    queuedByteCount -= result
    let next = start + result
    if next < block.count {
      write(block, from: next)
    } else if !queue.isEmpty {
      writeNext()
    } else if case .finishing = state {
      close(nil)
    } else {
      onDrain?()
    }
  }

  func shutdownThenClose() {
    guard case .open = state else { return }
    state = .finishing
    if operation == nil { close(nil) }
  }

  func close(_ reason: UVError?) {
    guard isOpen else { return }
    state = .closing(reason)
    if let operation { operation.cancel() } else { loop.later { [self] in finishClosing() } }
  }

  private func finishClosing() {
    guard case .closing(let reason) = state else { return }
    state = .closed
    queue = []
    queuedByteCount = 0
    FileOperation.close(on: loop, fileDescriptor)
    let report = onClose
    (onDrain, onClose) = (nil, nil)
    report?(reason)
  }
}
