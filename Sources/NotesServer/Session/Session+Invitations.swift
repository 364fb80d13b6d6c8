import AutomergeRepo
import JSONRPC

/// Inviting people nearby, and answering invitations.
extension Editor {
  private enum AccessName: String, CaseIterable { case write, read }

  func invite(_ params: Parameters) async throws -> JSONValue {
    let access: Access = try params.choiceIfPresent("access", as: AccessName.self) == .read ? .read : .write
    let peer = try peer(params)
    let record: NoteRecord
    if let known = try target(params) {
      record = known
    } else {
      record = try await adopt(uri: try params.string("uri"))
    }
    _ = try await find(record.id)
    let code = try await service.sharing.invite(
      peer, to: record.id, title: record.title, access: offeredAccess(access, to: record.id))
    return .object(present: [
      "state": .string(PeerSummary.State.invitationPending.rawValue), "code": code.map(JSONValue.string),
    ])
  }

  func invitations(_ params: Parameters) throws -> JSONValue {
    let all = service.sharing.invitations
    return [
      "invitations": .array(all.filter { $0.direction == .received }.map(json)),
      "sent": .array(all.filter { $0.direction == .sent }.map(json)),
    ]
  }

  func answer(_ params: Parameters) async throws -> JSONValue {
    let invitation = try params.string("invitation")
    let blocks = try params.boolIfPresent("block") ?? false
    let accepts = try params.bool("accept") && !blocks
    let id = try await service.sharing.answer(invitation, accepts: accepts, blocks: blocks)
    guard let id else { return [:] }
    return try await placeOfArrival(id)
  }

  /// The digits that both people can compare at any time.
  func verify(_ params: Parameters) throws -> JSONValue {
    let peer = try peer(params)
    let (code, isChanged) = try service.sharing.verification(of: peer)
    let name = service.sharing.peers.first { $0.peer == peer }?.name ?? String(peer.description.prefix(8))
    return [
      "code": .string(code), "changed": .bool(isChanged), "peer": .string(peer.description), "name": .string(name),
      "message": .string(
        isChanged
          ? NoteNews.fitted(name, ": WARNING, another key uses the name ", name, "")
          : NoteNews.cut(name, to: 20) + " sees the same digits, or it is not " + NoteNews.cut(name, to: 5)),
    ]
  }

  func trust(_ params: Parameters) async throws -> JSONValue {
    let peer = try peer(params)
    try await service.sharing.trust(
      peer, name: try params.stringIfPresent("name"), try params.choice("state", as: PeerTrust.self))
    return [:]
  }

  /// The peer that a field names: by its id, or by a name that only one peer has.
  func peer(_ params: Parameters) throws -> PeerId {
    let text = try params.string("peer")
    let peers = service.sharing.peers
    if let match = peers.first(where: { $0.peer.description == text }) { return match.peer }
    let exactly = peers.filter { $0.name == text && $0.state != .blocked }
    let named =
      exactly.isEmpty
      ? peers.filter { $0.name.lowercased() == text.lowercased() && $0.state != .blocked } : exactly
    guard named.count <= 1 else {
      throw NotesError(.conflict, "There are \(named.count) people called \(text); choose one by its id.")
    }
    guard let match = named.first else { throw NotesError(.notFound, "Nobody called \(text) is known or nearby.") }
    return match.peer
  }

  private func json(_ invitation: InvitationSummary) -> JSONValue {
    let person: JSONValue = .object(present: [
      "peer": .string(invitation.peer.description), "name": .string(invitation.name),
      "fingerprint": .string(invitation.peer.description), "changed": invitation.isNameShared ? true : nil,
    ])
    let title = invitation.title ?? service.notebook[invitation.document]?.title
    return .object(present: [
      "invitation": .string(invitation.invitation),
      (invitation.direction == .received ? "from" : "to"): person,
      "id": .string(invitation.document.description), "title": title.map(JSONValue.string),
      "access": .string(invitation.access.rawValue), "code": invitation.code.map(JSONValue.string),
      "awaitsConfirmation": invitation.direction == .sent ? .bool(invitation.awaitsConfirmation) : nil,
    ])
  }
}
