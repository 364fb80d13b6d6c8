import AutomergeRepo
import PeerTransport
import UV

/// A unix socket between two processes of one user, on which no other user can listen. The kernel reports the user of
/// the process at the other end.
@AutomergeRepo
final class UnixSocketTransport: FramedTransport {
  var frames = FrameDecoder()
  private let stream: PipeStream

  /// Nil, with the stream closed, if the process at the other end is not this user's.
  init?(_ stream: PipeStream) {
    guard stream.isOfThisUser else {
      stream.close()
      return nil
    }
    self.stream = stream
  }

  func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void) {
    // The stream holds its callbacks, and so keeps this transport alive, until it is closed.
    stream.onRead = { bytes in
      AutomergeRepo.assumeIsolated {
        self.frames.append(bytes)
        report(.received)
      }
    }
    stream.onDrain = { AutomergeRepo.assumeIsolated { report(.drained) } }
    stream.onClose = { error in
      AutomergeRepo.assumeIsolated { report(.closed(error.map { .lost(reason: $0.message) })) }
    }
    report(.proven(.sameUser))
    stream.resumeReading()
  }

  var isWithinMachine: Bool { true }
  var isOpen: Bool { stream.isOpen }
  var unsentByteCount: Int { stream.queuedByteCount }
  func resumeReading() { stream.resumeReading() }
  func pauseReading() { stream.pauseReading() }
  func finish() { stream.shutdownThenClose(within: .seconds(1)) }
  func close() { stream.close() }

  func write(_ bytes: [UInt8]) throws(LinkError) {
    do {
      try stream.write(bytes)
    } catch {
      throw .lost(reason: "\(error)")
    }
  }
}
