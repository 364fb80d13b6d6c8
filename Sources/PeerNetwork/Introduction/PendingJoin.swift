import AutomergeRepo
import PeerTransport

/// A caller that has presented a ticket and waits for the answer.
struct PendingJoin {
  struct Key: Hashable {
    var host: PeerId
    /// Nil for a spoken ticket.
    var document: DocumentId?
  }

  static let timeout: Duration = .seconds(10)

  /// The fields to send to the host.
  let message: TicketMessage
  /// Where to call the host again if the link is cut before it answers.
  var addresses: [PeerAddress]
  let reply: OneReply<Result<DocumentId, JoinError>>
  let timer: any ScheduledAction
}
