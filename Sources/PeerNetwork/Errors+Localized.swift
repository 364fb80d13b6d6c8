import AutomergeRepo
import Foundation

extension PeerNetworkError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TLSError: LocalizedError {
  public var errorDescription: String? { description }
}

extension IdentityError: LocalizedError {
  public var errorDescription: String? { description }
}

extension HandshakeError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .unexpectedMessage: "The other side sent a message out of turn."
    case .versionMismatch: "The other side speaks another version of the protocol."
    case .wrongPeer: "Another peer answers there."
    case .ownPeerId: "This program has reached itself."
    case .unusablePeerId: "The other side has a name that cannot be used."
    case .timedOut: "The other side has not introduced itself in time."
    case .refused(let reason): "The other side has refused: \(reason)"
    }
  }
}

extension FrameError: LocalizedError {
  public var errorDescription: String? { "The other side sent a broken frame: \(self)" }
}

extension TicketError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .ticketInvalid: "This is not a ticket, or a part of it is missing."
    case .ticketExpired: "The ticket has expired."
    case .ticketUsed: "The ticket was used already."
    }
  }
}

extension JoinError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .ticket(let error): error.errorDescription
    case .refused: "The host has refused."
    case .unreachable(let address, let reason): "The host cannot be reached at \(address): \(reason)"
    case .timedOut: "The host has not answered the ticket."
    case .alreadyHere(let id): "The document \(id) is already here."
    }
  }
}

extension InvitationError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .unknown: "There is no such invitation any more."
    case .blocked: "The peer is blocked."
    case .unreachable(let name, let reason): "\(name) cannot be reached: \(reason)"
    case .timedOut(let name): "\(name) has not answered."
    case .alreadyHere(let id): "The document \(id) is already here."
    }
  }
}
