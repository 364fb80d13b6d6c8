import AutomergeRepo
import Foundation

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

  /// The id that a text encodes; no document has the empty id.
  static func id(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }
}
