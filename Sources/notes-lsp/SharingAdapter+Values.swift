import NotesServer
import PeerNetwork

// Puts the network's errors into words.

extension SharingError {
  /// What the person decided is in force, but not in the store.
  static func notStored(_ error: any Error) -> SharingError {
    .notAllowed(reason: "This holds only until the program ends; the store could not be written: \(error).")
  }

  init(_ error: JoinError) {
    switch error {
    case .ticket(.ticketInvalid): self = .ticketInvalid
    case .ticket(.ticketExpired): self = .ticketExpired
    case .ticket(.ticketUsed): self = .ticketUsed
    case .ticket(.tooManyWrong): self = .tooManyWrong
    case .ticketRevoked: self = .ticketRevoked
    case .refused: self = .refused
    case .unreachable(let address, _): self = .unreachable(address: address)
    case .timedOut: self = .timedOut
    case .alreadyHere(let id): self = .alreadyHere(id)
    }
  }

  init(_ error: InvitationError) {
    switch error {
    case .unknown: self = .noInvitation
    case .blocked: self = .notAllowed(reason: "You have blocked this person; trust them first.")
    case .unreachable(let name, let reason): self = .notReached(reason: "\(name) cannot be reached: \(reason).")
    case .alreadyHere(let id): self = .alreadyHere(id)
    case .notTaken(let name): self = .noAnswer(reason: "No answer from \(name). Send a ticket instead.")
    case .timedOut(let name): self = .noAnswer(reason: "\(name) does not answer yet.")
    }
  }
}
