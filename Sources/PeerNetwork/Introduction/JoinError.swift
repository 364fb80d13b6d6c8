import AutomergeRepo

/// Why joining failed.
public enum JoinError: Error, Hashable, Sendable {
  case ticket(TicketError)
  /// The text is a ticket, but its host has revoked it, or does not know it.
  case ticketRevoked
  /// The host gave no reason, or an unknown one.
  case refused
  /// No address in the ticket led to the host; this is the error of the last one.
  case unreachable(address: String, reason: String)
  /// The host is connected but did not answer the ticket.
  case timedOut
  /// The document is already here, not from this host: nothing has changed.
  case alreadyHere(DocumentId)
}

extension JoinError {
  init(kind: String) {
    switch kind {
    case "ticketInvalid": self = .ticketRevoked
    case "ticketExpired": self = .ticket(.ticketExpired)
    case "ticketUsed": self = .ticket(.ticketUsed)
    case "tooManyWrong": self = .ticket(.tooManyWrong)
    default: self = .refused
    }
  }
}
