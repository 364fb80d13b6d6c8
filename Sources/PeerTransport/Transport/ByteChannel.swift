import AutomergeRepo

/// A stream of bytes to another program, under a transport: TCP, plain or encrypted.
///
///     created ──open──► open ──finish──► closed
///                         └────close──────▲
@AutomergeRepo
package protocol ByteChannel: AnyObject {
  /// Begins to read. `closed` is the last event; until then the channel retains itself and `report`.
  func open(_ report: @escaping @AutomergeRepo (ChannelEvent) -> Void)
  var isOpen: Bool { get }
  /// Sends bytes after all earlier ones; those that the medium does not accept at once wait.
  func write(_ bytes: [UInt8]) throws(LinkError)
  /// The bytes that were sent and have not left this process.
  var unsentByteCount: Int { get }
  func resumeReading()
  func pauseReading()
  /// Sends waiting bytes for at most a second, then closes. Reads nothing more.
  func finish()
  /// Closes now; what waits is lost.
  func close()
  var delivery: Delivery? { get }
  var localHost: String? { get }
}

/// An event on a channel.
package enum ChannelEvent {
  /// Bytes may be sent, and what was negotiated with the other end is known. The first event.
  case ready(keyFingerprint: [UInt8]?)
  /// The channel itself has worked on received bytes since this time, for example on a handshake.
  case worked(since: Duration)
  /// Valid until `report` returns.
  case received(UnsafeRawBufferPointer)
  /// Bytes had to wait, and all of them have been sent.
  case drained
  /// The last event. Nil if the connection ended without an error.
  case closed(LinkError?)
}
