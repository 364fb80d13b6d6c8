import AutomergeRepo
import UV

/// TLS over TCP. The other end proves its key.
@AutomergeRepo
final class TLSTransport: FramedTransport {
  var frames = FrameDecoder()
  private let stream: TCPStream
  private let tls: TLSSession
  private var report: (@AutomergeRepo (TransportEvent) -> Void)?
  private var isProven = false
  /// Whether the link has ended its side: what still arrives is not read.
  private var isFinishing = false
  private var failure: LinkError?

  init(_ stream: TCPStream, _ tls: TLSSession) { (self.stream, self.tls) = (stream, tls) }

  func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void) {
    self.report = report
    // The stream holds its callbacks, and so keeps this transport alive, until it is closed.
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.read(bytes) } }
    stream.onDrain = { AutomergeRepo.assumeIsolated { report(.drained) } }
    stream.onClose = { error in
      AutomergeRepo.assumeIsolated {
        self.report = nil
        report(.closed(self.failure ?? error.map { .lost(reason: $0.message) }))
      }
    }
    encrypted { () throws(TLSError) in try self.advance() }
    stream.resumeReading()
  }

  var isOpen: Bool { stream.isOpen }
  var unsentByteCount: Int { stream.queuedByteCount }
  func resumeReading() { stream.resumeReading() }
  func pauseReading() { stream.pauseReading() }
  func close() { stream.close() }

  func finish() {
    isFinishing = true
    tls.finish()
    flush()
    stream.shutdownThenClose(within: .seconds(1))
  }

  func write(_ bytes: [UInt8]) throws(LinkError) {
    var rest = bytes[...]
    do {
      while !rest.isEmpty {
        try tls.write(rest.prefix(TLSSession.writeByteCount))
        try stream.write(tls.takeOutput())
        rest = rest.dropFirst(TLSSession.writeByteCount)
      }
    } catch {
      throw .lost(reason: "\(error)")
    }
  }

  var delivery: Delivery? {
    Delivery(
      waitingByteCount: stream.unacknowledgedByteCount.map { $0 + stream.queuedByteCount },
      retransmissionCount: stream.retransmissionCount)
  }

  var localHost: String? { stream.localAddress?.host }

  private func read(_ bytes: UnsafeRawBufferPointer) {
    encrypted { () throws(TLSError) in
      let start = MonotonicTime.now
      try tls.receive(bytes)
      try self.advance()
      self.report?(.worked(since: start))
      while self.isProven, self.isOpen, !self.isFinishing, let plain = try tls.read() {
        self.frames.append(plain)
        self.report?(.received)
      }
    }
  }

  private func advance() throws(TLSError) {
    guard !isProven, try tls.advance(), let fingerprint = tls.peerFingerprint else { return }
    isProven = true
    report?(.proven(.key(fingerprint: fingerprint)))
  }

  /// Runs a TLS operation, sends the resulting bytes, and closes the connection on failure.
  private func encrypted(_ body: () throws(TLSError) -> Void) {
    do throws(TLSError) {
      try body()
      flush()
    } catch {
      flush()
      failure = error == .wrongKey ? .handshake(.wrongPeer) : .insecure(error)
      stream.close()
    }
  }

  private func flush() {
    let output = tls.takeOutput()
    guard !output.isEmpty, stream.isOpen else { return }
    // A write that fails closes the stream, which is reported then.
    try? stream.write(output)
  }
}
