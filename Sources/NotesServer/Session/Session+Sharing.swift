import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that share a note, and that list the people on it.
extension Session {
  private enum AccessName: String, CaseIterable { case write, read }

  func share(_ params: Parameters) async throws -> JSONValue {
    let access: Access = try params.choiceIfPresent("access", as: AccessName.self) == .read ? .read : .write
    let uses = try params.nonNegativeIntIfPresent("uses") ?? 1
    guard uses > 0 else { throw params.invalid("uses", "must be at least 1") }
    let expiresIn = try params.nonNegativeIntIfPresent("expiresIn").map { Duration.seconds(min($0, 1 << 40)) }
    let record: NoteRecord
    if let known = try target(params) {
      record = known
    } else {
      record = try await adopt(uri: try params.string("uri"))
    }
    // A note that is only in memory is not shared: the ticket outlives this process.
    _ = try await find(record.id)
    let ticket: SharedTicket = try await service.sharing.share(
      record.id, access: offeredAccess(access, to: record.id), uses: uses, expiresIn: expiresIn)
    return .object(present: [
      "id": .string(record.id.description), "ticket": .string(ticket.text), "words": .string(ticket.words),
      "expires": ticket.expires.map { .int(Int64($0)) } ?? .null,
    ])
  }

  func unshare(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    try await service.sharing.unshare(record.id, from: params.has("peer") ? try peer(params) : nil)
    return [:]
  }

  func join(_ params: Parameters) async throws -> JSONValue {
    let id: DocumentId
    if let ticket = try params.stringIfPresent("ticket") {
      id = try await service.sharing.join(ticket: ticket.trimmingCharacters(in: .whitespacesAndNewlines))
    } else {
      _ = try params.string("peer")
      id = try documentId(try params.string("id"), params)
    }
    return try await placeOfArrival(id)
  }

  /// The place of a note that another person shares: answered when it is stored, so that a service that is killed next still
  /// has it.
  func placeOfArrival(_ id: DocumentId) async throws -> JSONValue {
    let record = try await open(id)
    let handle = try await find(id)
    if !handle.isStored { try await handle.flush() }
    await service.sharing.storeAdmission(to: id)
    return place(record)
  }

  func connect(_ params: Parameters) async throws -> JSONValue {
    let peer = try await service.sharing.connect(address: try params.string("address"))
    return ["peer": .string(peer.description)]
  }

  func disconnect(_ params: Parameters) throws -> JSONValue {
    service.sharing.disconnect(PeerId(try params.string("peer")))
    return [:]
  }

  func setName(_ params: Parameters) async throws -> JSONValue {
    let name = try params.string("name").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { throw params.invalid("name", "must not be empty") }
    await service.nameKeeper.choose(name)
    return [:]
  }

  /// This person has a new name: it is entered in each document with the next edit.
  func renamed() {
    for case .attached(let attachment) in buffers.values { attachment.hasEnteredName = false }
  }

  func peers(_ params: Parameters) throws -> JSONValue {
    let identity = service.identity
    return [
      "self": [
        "peer": .string(identity.peer.description), "name": .string(identity.name),
        "fingerprint": .string(service.sharing.fingerprint),
      ],
      "peers": .array(service.sharing.peers.map(json)),
    ]
  }

  private func json(_ peer: PeerSummary) -> JSONValue {
    [
      "peer": .string(peer.peer.description), "name": .string(peer.name), "fingerprint": .string(peer.fingerprint),
      "state": .string(peer.state.rawValue), "via": .string(peer.via),
      "notes": .array(
        peer.notes.map { note in
          .object(present: [
            "id": .string(note.document.description),
            "title": service.notebook[note.document].map { .string($0.title) },
            "access": .string(note.access.rawValue),
          ])
        }),
    ]
  }

  func sharingChanged(_ event: SharingEvent) {
    switch event {
    case .accessChanged(let peer, let name, let id, let access):
      accessChanged(.access(access, host: name), id, peer, name)
    case .unshared(let peer, let name, let id): accessChanged(.unshared(host: name), id, peer, name)
    case .gaveUp(let peer, let name, let id):
      accessChanged(.gaveUp(guest: name), id, peer, name)
      service.company.unshared(id, by: peer)
    case .moved(let move, _): service.mover.follow(move)
    case .networkState: service.mover.followAll()
    default: break
    }
    if let notice = notice(of: event) {
      // Only one process of this person hears of it.
      service.siblingEvents.tell(notice)
      deliver(notice)
    }
    for case .attached(let attachment) in buffers.values { attachment.statusChanged() }
  }

  /// Tells the editor what other people did.
  func deliver(_ notice: JSONValue) {
    guard phase == .running else { return }
    if isNotesClient { return connection.notify("notes/event", notice) }
    let kinds = [
      "access", "refused", "recovered", "unshared", "detached", "waiting", "offered", "brokeOff", "keyChanged",
    ]
    if let kind = notice["kind"]?.stringValue, kinds.contains(kind), let message = notice["message"] {
      connection.notify("window/showMessage", ["type": 2, "message": message])
    } else {
      ask(notice)
    }
  }

  private static let (accept, decline) = ("Accept", "Decline")

  /// Asks the person how to answer an invitation, when the client is a plain one.
  private func ask(_ notice: JSONValue) {
    guard notice["kind"] == "invited", let invitation = notice["invitation"], let message = notice["message"] else {
      return
    }
    // The digits stand in the button, where no peer can write.
    let code = service.sharing.invitations.first { .string($0.invitation) == invitation }?.code
    let accept = code.map { "\(Self.accept): both see \(spaced($0))" } ?? Self.accept
    let question = connection.request(
      "window/showMessageRequest",
      [
        "type": 3, "message": message,
        "actions": [["title": .string(accept)], ["title": .string(Self.decline)]],
      ])
    whenAnswered(question) { [weak self] result in
      guard let choice = (try? result.get())?["title"]?.stringValue, [accept, Self.decline].contains(choice) else {
        return
      }
      Task { @AutomergeRepo in await self?.answer(invitation, accepts: choice == accept) }
    }
  }

  private func answer(_ invitation: JSONValue, accepts: Bool) async {
    do {
      let place = try await perform("notes/answer", ["invitation": invitation, "accept": .bool(accepts)])
      guard let path = place["path"]?.stringValue else { return }
      connection.notify("window/showMessage", ["type": 3, "message": .string("The note is in \(path).")])
    } catch {
      connection.notify("window/showMessage", ["type": 1, "message": .string("notes-lsp: \(error.message)")])
    }
  }

  /// The message to the person about a network event; nil if there is none.
  private func notice(of event: SharingEvent) -> JSONValue? {
    switch event {
    case .online(let peer, let name): notice("online", peer, name, NoteNews.cut(name, to: 48) + " is online")
    case .offline(let peer, let name): notice("offline", peer, name, NoteNews.cut(name, to: 48) + " is offline")
    case .joined(let peer, let name, let document):
      notice(
        "accepted", peer, name, NoteNews.fitted(name, " joined ", title(of: document), ""),
        uri: uri(of: document))
    case .networkState, .accessChanged, .unshared, .gaveUp, .moved: nil
    case .nearby, .gone, .invited, .withdrawn, .accepted, .declined, .toBeConfirmed, .offeredAgain, .brokeOff,
      .closedToStrangers, .namesake, .peersChanged:
      invitationNotice(of: event)
    }
  }

  /// A person has opened the document, or closed it.
  func arrived(_ person: Presence.Person, in document: DocumentId, isHere: Bool) {
    let title = title(of: document)
    let message = NoteNews.fitted(person.name, isHere ? " opened " : " closed ", title, "")
    deliver(notice(isHere ? "joined" : "left", PeerId(person.peer), person.name, message, uri: uri(of: document)))
  }

  /// A peer has brought changes in another author's name.
  func forged(by peer: PeerId, author: PeerId?, in attachment: Attachment) {
    // If several buffers have the document open, one of them tells.
    guard uri(of: attachment.id) == attachment.uri else { return }
    func name(of peer: PeerId) -> String {
      service.sharing.peers.first { $0.peer == peer }?.name ?? String(peer.description.prefix(8))
    }
    let owner = author.map { NoteNews.cut(name(of: $0), to: 12) + "'s" } ?? "your"
    let message = NoteNews.fitted(name(of: peer), " writes in \(owner) name in ", title(of: attachment.id), "; refused")
    deliver(notice("forged", peer, name(of: peer), message, uri: attachment.uri))
  }

  func attachments(of document: DocumentId) -> [Attachment] {
    buffers.values.compactMap { buffer in
      if case .attached(let attachment) = buffer, attachment.id == document { attachment } else { nil }
    }
  }

  func attachment(at key: NoteKey) -> Attachment? { attachments(of: key.document).first { $0.key == key } }

  func uri(of document: DocumentId) -> String? {
    attachments(of: document).map(\.uri).min() ?? service.notebook[document]?.path.map(FileURI.uri(path:))
  }

  func notice(
    _ kind: String, _ peer: PeerId, _ name: String, _ message: String, uri: String? = nil, invitation: String? = nil
  ) -> JSONValue {
    .object(present: [
      "uri": uri.map(JSONValue.string), "kind": .string(kind), "peer": .string(peer.description),
      "name": .string(name), "message": .string(message), "invitation": invitation.map(JSONValue.string),
    ])
  }
}
