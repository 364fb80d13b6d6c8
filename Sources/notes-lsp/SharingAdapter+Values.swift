import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork

// Converts the network's values to the server's.

extension SharingEvent {
  init(_ event: PeerDirectory.Event) {
    switch event {
    case .connected(let peer, let name): self = .online(peer, name: name)
    case .disconnected(let peer, let name): self = .offline(peer, name: name)
    case .joined(let peer, let name, let document): self = .joined(peer, name: name, document)
    case .appeared(let peer, let name): self = .nearby(peer, name: name)
    case .vanished(let peer, let name): self = .gone(peer, name: name)
    case .invited(let invitation, let name): self = .invited(InvitationSummary(invitation, name: name))
    case .withdrawn(let invitation, let name): self = .withdrawn(InvitationSummary(invitation, name: name))
    case .accepted(let peer, let name, let document): self = .accepted(peer, name: name, document)
    case .declined(let peer, let name, let document): self = .declined(peer, name: name, document)
    case .accessChanged(let peer, let name, let document, let access):
      self = .accessChanged(peer, name: name, document, access)
    case .unshared(let peer, let name, let document): self = .unshared(peer, name: name, document)
    case .gaveUp(let peer, let name, let document): self = .gaveUp(peer, name: name, document)
    case .moved(let move, let name): self = .moved(NoteMove(move), name: name)
    case .toBeConfirmed(let invitation, let name): self = .toBeConfirmed(InvitationSummary(invitation, name: name))
    case .offeredAgain(let peer, let name, let document): self = .offeredAgain(peer, name: name, document)
    case .brokeOff(let peer, let name): self = .brokeOff(peer, name: name)
    case .closedToStrangers: self = .closedToStrangers
    case .namesake(let peer, let name): self = .namesake(peer, name: name)
    case .peersChanged: self = .peersChanged
    case .renamed, .networkChanged: self = .networkState
    }
  }
}

extension NoteMove {
  init(_ move: DocumentMove) {
    self.init(
      document: move.document, successor: move.successor, heads: move.heads, host: move.host,
      isRemoved: { move.isRemoved($0) })
  }
}

extension SharingError {
  init(_ error: JoinError) {
    switch error {
    case .ticket(.ticketInvalid): self = .ticketInvalid
    case .ticket(.ticketExpired): self = .ticketExpired
    case .ticket(.ticketUsed): self = .ticketUsed
    case .refused: self = .refused
    case .unreachable(let address, _): self = .unreachable(address: address)
    case .timedOut: self = .timedOut
    case .alreadyHere: self = .alreadyHere
    }
  }

  init(_ error: InvitationError) {
    switch error {
    case .unknown: self = .noInvitation
    case .blocked: self = .notAllowed(reason: "You have blocked this person; trust them first.")
    case .unreachable(let name, let reason): self = .notReached(reason: "\(name) cannot be reached: \(reason).")
    case .alreadyHere: self = .alreadyHere
    case .timedOut(let name): self = .noAnswer(reason: "\(name) does not answer yet.")
    }
  }
}

extension PeerSummary.State {
  init(_ standing: PeerDirectory.Standing) {
    switch standing {
    case .nearby: self = .nearby
    case .invitationPending: self = .invitationPending
    case .connected: self = .connected
    case .rejected: self = .rejected
    case .blocked: self = .blocked
    case .known: self = .known
    }
  }
}

extension PeerDirectory.Trust {
  init(_ trust: PeerTrust) {
    switch trust {
    case .trusted: self = .trusted
    case .blocked: self = .blocked
    case .forgotten: self = .forgotten
    }
  }
}

extension InvitationSummary {
  init(_ invitation: Invitations.Received, name: String) {
    self.init(
      invitation: InvitationSummary.text(invitation.id), direction: .received, peer: invitation.peer, name: name,
      document: invitation.document, title: invitation.title, access: invitation.access, code: invitation.code,
      awaitsConfirmation: false)
  }

  init(_ invitation: Invitations.Sent, name: String) {
    self.init(
      invitation: InvitationSummary.text(invitation.id), direction: .sent, peer: invitation.peer, name: name,
      document: invitation.document, title: nil, access: invitation.access, code: invitation.code,
      awaitsConfirmation: invitation.awaitsConfirmation)
  }

  private static func text(_ id: [UInt8]) -> String { Data(id).base64EncodedString() }

  /// The id that a text stands for; nothing has the empty one.
  static func id(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }
}
