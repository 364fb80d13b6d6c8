import AutomergeRepo
import Foundation

extension IdentityError: LocalizedError {
  public var errorDescription: String? { description }
}

extension TicketError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .ticketInvalid: "The text is not a whole ticket."
    case .ticketExpired: "The ticket has expired."
    case .ticketUsed: "The ticket has been used."
    case .tooManyWrong: "Too many wrong tickets; the host reads no more of them for a minute."
    }
  }
}

extension JoinError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .ticket(let error): error.errorDescription
    case .ticketRevoked: "The ticket is no longer valid."
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
    case .unknown: "This invitation no longer exists."
    case .blocked: "The peer is blocked."
    case .unreachable(let name, let reason): "\(name) cannot be reached: \(reason)"
    case .notTaken(let name): "\(name)'s service refuses the invitation."
    case .timedOut(let name): "\(name) has not answered."
    case .alreadyHere(let id): "The document \(id) is already here."
    }
  }
}
