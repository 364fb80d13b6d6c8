import AutomergeRepo
import UV

/// Frames over TLS over TCP. The other end proves its key.
@AutomergeRepo
package final class TLSTransport: FramedTransport {
  package var frames = FrameDecoder()
  private let channel: TLSChannel

  package init(_ stream: TCPStream, _ tls: TLSSession) { channel = TLSChannel(stream, tls) }

  package func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void) {
    channel.open { event in
      switch event {
      case .ready(let fingerprint): report(.proven(.key(fingerprint: fingerprint ?? [])))
      case .worked(let start): report(.worked(since: start))
      case .received(let bytes):
        self.frames.append(bytes)
        report(.received)
      case .drained: report(.drained)
      case .closed(let error): report(.closed(error))
      }
    }
  }

  package var isOpen: Bool { channel.isOpen }
  package var unsentByteCount: Int { channel.unsentByteCount }
  package var delivery: Delivery? { channel.delivery }
  package var localHost: String? { channel.localHost }
  package func resumeReading() { channel.resumeReading() }
  package func pauseReading() { channel.pauseReading() }
  package func finish() { channel.finish() }
  package func close() { channel.close() }
  package func write(_ bytes: [UInt8]) throws(LinkError) { try channel.write(bytes) }
}
