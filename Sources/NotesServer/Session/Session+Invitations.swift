import AutomergeRepo
import JSONRPC

/// Inviting people nearby, and answering invitations.
extension Session {
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

  /// The notice for an event about a person nearby, or an invitation; nil if it is another event.
  func invitationNotice(of event: SharingEvent) -> JSONValue? {
    switch event {
    case .nearby(let peer, let name): notice("online", peer, name, NoteNews.cut(name, to: 44) + " is nearby")
    case .gone(let peer, let name): notice("offline", peer, name, NoteNews.cut(name, to: 40) + " is no longer nearby")
    case .invited(let invitation):
      // Without the digits: these stand alone, where the person answers, so that no title can pass for them.
      notice(
        "invited", invitation.peer, invitation.name,
        invitation.isNameShared
          ? "WARNING: " + NoteNews.cut(invitation.name, to: 29) + " is not who you met"
          : NoteNews.fitted(invitation.name, " invites you to ", invitation.title ?? "", "", within: 55),
        invitation: invitation.invitation)
    case .withdrawn(let invitation):
      notice(
        "declined", invitation.peer, invitation.name,
        NoteNews.fitted(invitation.name, " took back the invitation to ", invitation.title ?? "", ""),
        invitation: invitation.invitation)
    case .accepted(let peer, let name, let document):
      notice(
        "accepted", peer, name, NoteNews.fitted(name, " now shares ", title(of: document), " with you"),
        uri: uri(of: document))
    case .declined(let peer, let name, let document):
      notice(
        "declined", peer, name, NoteNews.fitted(name, " declined ", title(of: document), ""), uri: uri(of: document))
    case .toBeConfirmed(let invitation):
      notice(
        "accepted", invitation.peer, invitation.name, NoteNews.cut(invitation.name, to: 29) + " accepted.",
        uri: uri(of: invitation.document), invitation: invitation.invitation)
    case .offeredAgain(let peer, let name, let document):
      notice(
        "offered", peer, name, NoteNews.fitted(name, " offers ", title(of: document), ", which you already have"),
        uri: uri(of: document))
    case .brokeOff(let peer, let name):
      notice("brokeOff", peer, name, NoteNews.cut(name, to: 29) + " broke off an invitation")
    case .closedToStrangers:
      .object(present: [
        "kind": "brokeOff", "message": "Too many broken-off invitations. Use tickets for an hour",
      ])
    case .namesake(let peer, let name):
      notice(
        "keyChanged", peer, name, "WARNING: another key calls itself \(NoteNews.cut(name, to: 20))")
    case .peersChanged: .object(present: ["kind": "peers"])
    case .online, .offline, .joined, .networkState, .accessChanged, .unshared, .gaveUp, .moved: nil
    }
  }

  func title(of document: DocumentId) -> String {
    service.notebook[document]?.title ?? "a note"
  }

  func spaced(_ code: String) -> String { "\(code.prefix(3)) \(code.dropFirst(3))" }
}
