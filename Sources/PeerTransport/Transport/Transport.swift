import AutomergeRepo

/// Carries the messages of one link: over TLS, through a unix socket, within this process.
///
///     created ──open──► carrying ──finish──► closed
///                          └─────close────────▲
///
/// A transport knows nothing of peers, of documents, or of what a message says. To add one, conform to this protocol, or to
/// `FramedTransport` where the medium is a stream of bytes, and have a provider hand it to a `PeerLink`.
@AutomergeRepo
package protocol Transport: AnyObject {
  /// Begins to carry. `proven` is the first event and `closed` is the last; until then the transport retains itself and `report`.
  func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void)
  var isOpen: Bool { get }

  /// Sends a message in this turn; bytes that the medium does not accept at once wait, in order.
  func send(_ message: [UInt8]) throws(LinkError)
  /// Bytes that were sent and have not left this process.
  var unsentByteCount: Int { get }

  /// The next complete message; nil until there is one.
  func nextMessage() throws(FrameError) -> [UInt8]?
  /// From now on a longer message is passed over, or, if it is not to be skipped, ends the link.
  func limitMessages(to maximumByteCount: Int, skipsLonger: Bool)
  /// The bytes that have come of a message that is not whole.
  var unfinishedByteCount: Int { get }
  /// Lets the other end send more.
  func resumeReading()
  /// Makes the other end wait.
  func pauseReading()

  /// Sends what waits, for a second at most, and closes.
  func finish()
  /// Closes now; what waits is lost.
  func close()

  /// Asks the other end for a sign of life in the medium's own way. False if the medium has none; then the link sends a message.
  func ping() -> Bool

  /// Whether both ends are on this machine. Then everything sent arrives, and the end of either process closes the connection.
  var isWithinMachine: Bool { get }
  /// What the other machine has acknowledged; nil if the transport cannot tell.
  var delivery: Delivery? { get }
  /// The host, among this machine's, that the connection uses; nil if unknown.
  var localHost: String? { get }
}

extension Transport {
  package func ping() -> Bool { false }
  package var isWithinMachine: Bool { false }
  package var delivery: Delivery? { nil }
  package var localHost: String? { nil }
}

/// An event for the link from its transport.
package enum TransportEvent {
  /// The other end has shown its proof.
  case proven(PeerProof)
  /// Bytes have come, on which the transport itself has worked since this time: a handshake of its own.
  case worked(since: Duration)
  /// Bytes have come, and perhaps messages.
  case received
  /// Bytes had to wait, and all of them have been sent.
  case drained
  /// The last event. Nil if the connection ended without an error.
  case closed(LinkError?)
}

/// What a transport knows about bytes that are on their way.
package struct Delivery: Hashable {
  /// Bytes sent but not acknowledged; nil if unknown.
  package var waitingByteCount: Int?
  /// How many times in a row bytes were sent again without an answer; nil if unknown.
  package var retransmissionCount: Int?

  package init(waitingByteCount: Int? = nil, retransmissionCount: Int? = nil) {
    (self.waitingByteCount, self.retransmissionCount) = (waitingByteCount, retransmissionCount)
  }

  /// Whether the other machine acknowledges what it is sent, or reports a full window, whatever the program on it does.
  package var isAnswered: Bool { retransmissionCount.map { $0 == 0 } ?? (waitingByteCount == 0) }
}
