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
  /// How long it is enough to have looked for the document in the store: looking again would delay the text.
  static let checkLifetime: Duration = .seconds(1)

  /// The fields to send to the host.
  let message: TicketMessage
  /// Where to call the host again if the link is cut before it answers.
  var addresses: [PeerAddress]
  /// When we knew that the document is not here from elsewhere; nil if we do not know which document it is.
  let checkedAt: Duration?
  let reply: OneReply<Result<DocumentId, JoinError>>
  let timer: any ScheduledAction
}
