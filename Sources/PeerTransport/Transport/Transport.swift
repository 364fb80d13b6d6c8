import AutomergeRepo

/// Carries the messages of one link: over TLS, through a unix socket, within this process.
///
///     created ──open──► carrying ──finish──► closed
///                          └─────close────────▲
///
/// A transport knows nothing about peers, documents or the content of messages. To add one, conform to this protocol,
/// or to `FramedTransport` if the medium is a stream of bytes, and have a provider pass it to a `PeerLink`.
@AutomergeRepo
package protocol Transport: AnyObject {
  /// Opens the transport. `proven` is the first event and `closed` is the last; until then the transport retains itself
  /// and `report`.
  func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void)
  var isOpen: Bool { get }

  /// Sends a message in this turn; bytes that the medium does not accept at once wait, in order.
  func send(_ message: [UInt8]) throws(LinkError)
  /// The bytes that were sent and have not left this process.
  var unsentByteCount: Int { get }

  /// The next complete message; nil until there is one.
  func nextMessage() throws(FrameError) -> [UInt8]?
  /// From now on, a longer message is skipped or, unless `skipsLonger`, ends the link.
  func limitMessages(to maximumByteCount: Int, skipsLonger: Bool)
  /// The received bytes of an unfinished message.
  var unfinishedByteCount: Int { get }
  /// Lets the other end send more.
  func resumeReading()
  /// Makes the other end wait.
  func pauseReading()

  /// Sends what waits, for a second at most, and closes.
  func finish()
  /// Closes now; what waits is lost.
  func close()

  /// Asks the other end for a sign of life in the medium's own way. False if the medium has none; then the link sends a
  /// message.
  func ping() -> Bool

  /// Whether both ends are on this machine. Then everything that is sent arrives, and the end of either process closes
  /// the connection.
  var isWithinMachine: Bool { get }
  /// What the other machine has acknowledged; nil if the transport cannot tell.
  var delivery: Delivery? { get }
  /// The address of this machine that the connection uses; nil if unknown.
  var localHost: String? { get }
}

extension Transport {
  package func ping() -> Bool { false }
  package var isWithinMachine: Bool { false }
  package var delivery: Delivery? { nil }
  package var localHost: String? { nil }
}

/// An event that a transport reports to its link.
package enum TransportEvent {
  /// The other end has shown its proof.
  case proven(PeerProof)
  /// Bytes have arrived on which the transport itself has worked since this time, for example on a handshake.
  case worked(since: Duration)
  /// Bytes have arrived, and perhaps messages.
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
  /// How many times in a row bytes were retransmitted without an answer; nil if unknown.
  package var retransmissionCount: Int?

  package init(waitingByteCount: Int? = nil, retransmissionCount: Int? = nil) {
    (self.waitingByteCount, self.retransmissionCount) = (waitingByteCount, retransmissionCount)
  }

  /// Whether the other machine acknowledges what it is sent, or reports a full window, whatever the program on it does.
  package var isAnswered: Bool { retransmissionCount.map { $0 == 0 } ?? (waitingByteCount == 0) }
}
