import AutomergeRepo
import PeerTransport

/// A caller that has presented a ticket and waits for the answer.
@AutomergeRepo
final class PendingJoin {
  struct Key: Hashable {
    var host: PeerId
    /// Nil for a spoken ticket.
    var document: DocumentId?
  }

  nonisolated static let timeout: Duration = .seconds(10)
  /// How long the result of looking for the document in the store counts: looking again would delay the text.
  nonisolated static let checkLifetime: Duration = .seconds(1)

  /// How many calls in a row may fail: a host with too many connections closes a call before the caller has introduced
  /// itself.
  private nonisolated static let maximumFailures = 3

  /// The fields to send to the host.
  let message: TicketMessage
  /// Where to call the host again if the link is cut before it answers.
  let addresses: [PeerAddress]
  /// When the store last showed that the document is not here from elsewhere; nil if we do not know which document it
  /// is.
  let checkedAt: Duration?
  let reply: OneReply<Result<DocumentId, JoinError>>
  let timer: any ScheduledAction
  /// Whether the host is being called again.
  private(set) var isCalling = false
  private var (callCount, failureCount) = (0, 0)

  init(
    message: TicketMessage, addresses: [PeerAddress], checkedAt: Duration?,
    reply: OneReply<Result<DocumentId, JoinError>>, timer: any ScheduledAction
  ) {
    (self.message, self.addresses, self.checkedAt) = (message, addresses, checkedAt)
    (self.reply, self.timer) = (reply, timer)
  }

  /// The host is called again from now on, after the returned pause: none the first time, then longer and longer.
  func beginCall() -> Duration {
    isCalling = true
    callCount += 1
    return callCount == 1 ? .zero : .milliseconds(50 << min(callCount - 1, 6))
  }

  /// Returns whether to give up.
  func endCall(hasFailed: Bool) -> Bool {
    isCalling = false
    failureCount = hasFailed ? failureCount + 1 : 0
    return failureCount >= Self.maximumFailures
  }
}
