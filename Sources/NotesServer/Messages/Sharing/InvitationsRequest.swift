import AutomergeRepo
import JSONRPC

/// `notes/invitations`: the invitations that wait for this person's answer, and those that this person sent.
struct InvitationsRequest: NetworkRequest {
  static let method = "notes/invitations"

  init(_ params: Parameters) {}

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let all = service.sharing.invitations.map { invitation in
      var invitation = invitation
      invitation.title = invitation.title ?? service.notebook[invitation.document]?.title
      return invitation
    }
    return Result(
      received: all.filter { $0.direction == .received }, sent: all.filter { $0.direction == .sent })
  }

  struct Result: RequestResult {
    let received: [InvitationSummary]
    let sent: [InvitationSummary]

    var json: JSONValue {
      let open = received + sent.filter(\.awaitsConfirmation)
      var members: JSONObject = [
        "invitations": .array(received.map(\.json)), "sent": .array(sent.map(\.json)),
        "open": .array(open.map { InvitationQuestion($0).json }),
      ]
      if open.isEmpty { members["message"] = .string(InvitationQuestion.noneIsOpen(sent.last)) }
      return .object(members)
    }
  }
}

extension InvitationSummary {
  fileprivate var json: JSONValue {
    let person: JSONValue = .object(present: [
      "peer": .string(peer.description), "name": .string(name), "fingerprint": .string(peer.description),
      "changed": isNameShared ? true : nil,
    ])
    return .object(present: [
      "invitation": .string(invitation), (direction == .received ? "from" : "to"): person,
      "id": .string(document.description), "title": title.map(JSONValue.string),
      "access": .string(access.rawValue), "code": code.map(JSONValue.string),
      "awaitsConfirmation": direction == .sent ? .bool(awaitsConfirmation) : nil,
    ])
  }
}
