import AutomergeRepo
import JSONRPC

/// Events about people: on the network, nearby, in notes, and with invitations.
extension EditorNews {
  func sharingChanged(_ event: SharingEvent) {
    switch event {
    case .accessChanged(let peer, let name, let id, let access):
      accessChanged(.access(access, host: name), id, peer, name)
    case .unshared(let peer, let name, let id):
      let isBlocked = service.sharing.name(of: peer, claiming: name) == nil
      accessChanged(.unshared(host: isBlocked ? nil : name), id, peer, name)
      service.presenceTracker.sharingEnds(on: id)
    case .gaveUp(let peer, let name, let id):
      accessChanged(.gaveUp(guest: name), id, peer, name)
      service.presenceTracker.unshared(id, by: peer)
    case .moved(let move, _): service.mover.follow(move)
    case .networkState: service.mover.followAll()
    default: break
    }
    if let notice = notice(of: event) {
      tell(notice, of: notice["peer"]?.stringValue ?? "") { [editor, siblings = service.siblings] notice in
        // Only one process of this person receives the event.
        siblings.events.tell(notice)
        editor.deliver(notice)
      }
    }
    for binding in editor.buffers.bindings { binding.updates.statusChanged() }
  }

  /// Any editor of this person may show a ticket of the note.
  func ticketsRevoked(_ document: DocumentId) {
    let event: JSONValue = ["kind": "tickets", "id": .string(document.description)]
    service.siblings.events.tell(event)
    editor.deliver(event)
  }

  /// Call when a person has opened the document, or closed it.
  func arrived(_ person: Presence.Person, in document: DocumentId, isHere: Bool) {
    let title = service.title(of: document)
    let message = NoteNews.fitted(person.name, isHere ? " opened " : " closed ", title, "")
    let notice = notice(
      isHere ? "joined" : "left", PeerId(person.peer), person.name, message, uri: editor.buffers.uri(of: document))
    tell(notice, of: PeerId(person.peer).owner.description) { [editor] in editor.deliver($0) }
  }

  /// Call when a peer has brought changes in another author's name.
  func forged(by peer: PeerId, author: PeerId?, in binding: BufferBinding) {
    // If several buffers show the document, only one of them reports this.
    guard editor.buffers.uri(of: binding.id) == binding.uri else { return }
    let name = service.sharing.name(of: peer)
    let owner = author.map { NoteNews.cut(service.sharing.name(of: $0), to: 12) + "'s" } ?? "your"
    let message = NoteNews.fitted(name, " writes in \(owner) name in ", service.title(of: binding.id), "; refused")
    editor.deliver(notice("forged", peer, name, message, .urgent, uri: binding.uri))
  }

  // MARK: Notices

  /// The message to the person about a network event; nil if there is none.
  private func notice(of event: SharingEvent) -> JSONValue? {
    switch event {
    case .online(let peer, let name): notice("online", peer, name, NoteNews.cut(name, to: 48) + " is online")
    case .offline(let peer, let name): notice("offline", peer, name, NoteNews.cut(name, to: 48) + " is offline")
    case .joined(let peer, let name, let document):
      notice(
        "accepted", peer, name, NoteNews.fitted(name, " joined ", service.title(of: document), ""),
        uri: editor.buffers.uri(of: document))
    case .networkState, .accessChanged, .unshared, .gaveUp, .moved: nil
    case .nearby, .gone, .invited, .withdrawn, .accepted, .declined, .toBeConfirmed, .offeredAgain, .brokeOff,
      .closedToStrangers, .namesake, .peersChanged:
      invitationNotice(of: event)
    }
  }

  /// The notice for an event about a person nearby, or an invitation; nil if it is another event.
  private func invitationNotice(of event: SharingEvent) -> JSONValue? {
    switch event {
    case .nearby(let peer, let name): notice("online", peer, name, NoteNews.cut(name, to: 44) + " is nearby")
    case .gone(let peer, let name): notice("offline", peer, name, NoteNews.cut(name, to: 40) + " is no longer nearby")
    case .invited(let invitation):
      // Without the digits: these are shown separately, where the person answers, so that no title can imitate them.
      notice(
        "invited", invitation.peer, invitation.name,
        invitation.isNameShared
          ? "WARNING: " + NoteNews.cut(invitation.name, to: 29) + " is not who you met"
          : NoteNews.fitted(invitation.name, " invites you to ", invitation.title ?? "", "", within: 55),
        .urgent, reply: ":NotesAnswer to reply", invitation: invitation.invitation)
    case .withdrawn(let invitation):
      notice(
        "declined", invitation.peer, invitation.name,
        NoteNews.fitted(invitation.name, " took back the invitation to ", invitation.title ?? "", ""),
        .urgent, invitation: invitation.invitation)
    case .accepted(let peer, let name, let document):
      notice(
        "accepted", peer, name, NoteNews.fitted(name, " now shares ", service.title(of: document), " with you"),
        uri: editor.buffers.uri(of: document))
    case .declined(let peer, let name, let document):
      notice(
        "declined", peer, name, NoteNews.fitted(name, " declined ", service.title(of: document), ""),
        .urgent, uri: editor.buffers.uri(of: document))
    case .toBeConfirmed(let invitation):
      notice(
        "accepted", invitation.peer, invitation.name, NoteNews.cut(invitation.name, to: 29) + " accepted.",
        .urgent, reply: ":NotesAnswer to compare codes", uri: editor.buffers.uri(of: invitation.document),
        invitation: invitation.invitation)
    case .offeredAgain(let peer, let name, let document):
      notice(
        "offered", peer, name,
        NoteNews.fitted(name, " offers ", service.title(of: document), ", which you already have"),
        uri: editor.buffers.uri(of: document))
    case .brokeOff(let peer, let name):
      notice("brokeOff", peer, name, NoteNews.cut(name, to: 29) + " broke off an invitation")
    case .closedToStrangers:
      .object(present: [
        "kind": "brokeOff", "message": "Too many broken-off invitations. Use tickets for an hour",
      ])
    case .namesake(let peer, let name):
      notice(
        "keyChanged", peer, name, "WARNING: another key calls itself \(NoteNews.cut(name, to: 20))", .urgent,
        reply: ":NotesVerify")
    case .peersChanged: .object(present: ["kind": "peers"])
    case .online, .offline, .joined, .networkState, .accessChanged, .unshared, .gaveUp, .moved: nil
    }
  }

  private func notice(
    _ kind: String, _ peer: PeerId, _ name: String, _ message: String, _ level: EventLine.Level = .news,
    reply: String? = nil, uri: String? = nil, invitation: String? = nil
  ) -> JSONValue {
    .object(present: [
      "uri": uri.map(JSONValue.string), "kind": .string(kind), "peer": .string(peer.description),
      "name": .string(name), "message": .string(message), "invitation": invitation.map(JSONValue.string),
      "line": .string(EventLine.text(message, then: reply)), "level": level.json,
    ])
  }
}
