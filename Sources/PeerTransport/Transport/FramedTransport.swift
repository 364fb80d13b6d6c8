import AutomergeRepo

/// A transport over a stream of bytes, on which messages follow each other as frames.
///
/// A conforming type appends received bytes to `frames`, and then reports `received`.
@AutomergeRepo
package protocol FramedTransport: Transport {
  var frames: FrameDecoder { get set }
  /// Sends bytes after all that were sent before.
  func write(_ bytes: [UInt8]) throws(LinkError)
}

extension FramedTransport {
  package func send(_ message: [UInt8]) throws(LinkError) {
    let frame: [UInt8]
    do {
      frame = try Frame.encode(message)
    } catch {
      throw .lost(reason: "\(error)")
    }
    try write(frame)
  }

  package func nextMessage() throws(FrameError) -> [UInt8]? { try frames.next() }

  package func limitMessages(to maximumByteCount: Int, skipsLonger: Bool) {
    frames.maximumByteCount = maximumByteCount
    frames.skipsTooLong = skipsLonger
  }

  package var unfinishedByteCount: Int { frames.bufferedByteCount }
}
