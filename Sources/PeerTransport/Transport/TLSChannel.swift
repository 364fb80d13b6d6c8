import AutomergeRepo
import UV

/// TLS over TCP.
@AutomergeRepo
package final class TLSChannel: ByteChannel {
  private let stream: TCPStream
  private let tls: TLSSession
  private var report: (@AutomergeRepo (ChannelEvent) -> Void)?
  private var isReady = false
  /// Whether this side has ended, so that what still arrives is not read.
  private var isFinishing = false
  private var failure: LinkError?

  package init(_ stream: TCPStream, _ tls: TLSSession) { (self.stream, self.tls) = (stream, tls) }

  package func open(_ report: @escaping @AutomergeRepo (ChannelEvent) -> Void) {
    self.report = report
    // The stream holds its callbacks, and so keeps this channel alive, until it is closed.
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

  package var isOpen: Bool { stream.isOpen }
  package var unsentByteCount: Int { stream.queuedByteCount }
  package var delivery: Delivery? { Delivery(of: stream) }
  package var localHost: String? { stream.localAddress?.host }
  package func resumeReading() { stream.resumeReading() }
  package func pauseReading() { stream.pauseReading() }
  package func close() { stream.close() }

  package func finish() {
    isFinishing = true
    tls.finish()
    flush()
    stream.shutdownThenClose(within: .seconds(1))
  }

  package func write(_ bytes: [UInt8]) throws(LinkError) {
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

  private func read(_ bytes: UnsafeRawBufferPointer) {
    encrypted { () throws(TLSError) in
      let start = MonotonicTime.now
      try tls.receive(bytes)
      try self.advance()
      self.report?(.worked(since: start))
      while self.isReady, self.isOpen, !self.isFinishing, let plain = try tls.read() {
        self.report?(.received(plain))
      }
    }
  }

  private func advance() throws(TLSError) {
    guard !isReady, try tls.advance() else { return }
    isReady = true
    report?(.ready(keyFingerprint: tls.peerFingerprint))
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
