import AutomergeRepo
import UV

/// Plain TCP.
@AutomergeRepo
package final class TCPChannel: ByteChannel {
  private let stream: TCPStream

  package init(_ stream: TCPStream) { self.stream = stream }

  package func open(_ report: @escaping @AutomergeRepo (ChannelEvent) -> Void) {
    // The stream holds its callbacks, and so keeps this channel alive, until it is closed.
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { if self.isOpen { report(.received(bytes)) } } }
    stream.onDrain = { AutomergeRepo.assumeIsolated { report(.drained) } }
    stream.onClose = { error in
      AutomergeRepo.assumeIsolated { report(.closed(error.map { .lost(reason: $0.message) })) }
    }
    report(.ready(keyFingerprint: nil))
    stream.resumeReading()
  }

  package var isOpen: Bool { stream.isOpen }
  package var unsentByteCount: Int { stream.queuedByteCount }
  package var delivery: Delivery? { Delivery(of: stream) }
  package var localHost: String? { stream.localAddress?.host }
  package func resumeReading() { stream.resumeReading() }
  package func pauseReading() { stream.pauseReading() }
  package func finish() { stream.shutdownThenClose(within: .seconds(1)) }
  package func close() { stream.close() }

  package func write(_ bytes: [UInt8]) throws(LinkError) {
    do {
      try stream.write(bytes)
    } catch {
      throw .lost(reason: "\(error)")
    }
  }
}

extension Delivery {
  package init(of stream: TCPStream) {
    self.init(
      waitingByteCount: stream.unacknowledgedByteCount.map { $0 + stream.queuedByteCount },
      retransmissionCount: stream.retransmissionCount)
  }
}
