import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// Access to a note: asking, changing and enforcing it, and telling the person when the host changes it.
extension Session {
  private enum AccessName: String, CaseIterable { case write, read, none }

  func people(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let handle = try await find(record.id)
    return ["people": .array(service.sharing.people(on: record.id).map { json($0, on: handle, withAccess: true) })]
  }

  func setAccess(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let peer = try peer(params)
    let access = Access(rawValue: try params.choice("access", as: AccessName.self).rawValue) ?? .none
    if let host = service.sharing.host(of: record.id), host.peer == peer {
      throw NotesError(.refused, "\(host.name) shares this note with you; unshare it to leave.")
    }
    guard try await service.sharing.setAccess(access, to: record.id, for: peer) else {
      throw NotesError(.notFound, "Not shared with this person by you.")
    }
    return [:]
  }

  /// A new note of this person's own with the text of another note, as the editor shows it.
  func copy(_ params: Parameters) async throws -> JSONValue {
    guard let record = try target(params) else { throw NotesError(.notANote, "Not a note.") }
    let handle = try await find(record.id)
    guard let note = NoteDocument(handle.document, item: record.item) else {
      throw NotesError(.notANote, "Copy a meeting one item at a time.")
    }
    let text = attachment(at: record.key)?.clientText ?? DocumentText(note).allUTF8
    let title = try params.stringIfPresent("title") ?? "\(record.title) copy"
    let directory = try params.stringIfPresent("directory") ?? service.notesDirectory
    return place(
      try await writeWorkingFile(for: makeDocument(title: title, text: text), title: title, directory: directory))
  }

  /// The access that this person can grant: no more than they have.
  func offeredAccess(_ access: Access, to id: DocumentId) -> Access { min(access, service.sharing.access(to: id)) }

  func checkMayWrite(_ id: DocumentId) throws(NotesError) {
    guard !service.mayWrite(id) else { return }
    let host = service.sharing.host(of: id)?.name ?? "the host"
    throw NotesError(.readOnly, "Read-only: ask \(host) for access, or make a copy.")
  }

  // MARK: News

  /// The network reports that this person's access to a note has changed, or that it is no longer shared.
  func accessChanged(_ news: NoteNews, _ id: DocumentId, _ peer: PeerId, _ name: String) {
    let event = news.parameters(uri: uri(of: id), id: id, title: title(of: id), peer: peer, name: name)
    // Only one process of this person hears of it.
    service.siblingEvents.tell(event)
    deliver(event, to: id)
    service.readOnlyCopies.accessChanged(id)
  }

  /// Handles an event that another process of this person has heard.
  func heardFromSibling(_ event: JSONValue) {
    if service.recoveredTexts.heard(event) { return }
    guard let kind = event["kind"]?.stringValue, ["access", "unshared", "left", "moved"].contains(kind),
      let id = event["id"]?.stringValue.flatMap({ DocumentId($0) })
    else { return deliver(event) }
    Task { @AutomergeRepo in
      await service.sharing.refresh()
      if let old = event["from"]?.stringValue.flatMap({ DocumentId($0) }) {
        await service.mover.heardOfMove(old, to: id)
      }
      deliver(event, to: id)
    }
  }

  /// Tells every buffer of a document; a meeting may have several.
  func deliver(_ event: JSONValue, to id: DocumentId) {
    let open = attachments(of: id)
    guard !open.isEmpty, case .object(var members) = event else { return deliver(event) }
    for attachment in open.sorted(by: { $0.uri < $1.uri }) {
      members["uri"] = .string(attachment.uri)
      deliver(.object(members))
      attachment.toldOfStatus()
    }
  }

  /// What was typed is not in the note, for this person may only read it.
  func refused(_ key: NoteKey, uri: String?, _ text: RecoveredText, path: String) {
    guard phase == .running else { return }
    deliver(refusal(of: key, uri: uri, recovered: path))
    service.recoveredTexts.told(text)
  }

  /// What was typed elsewhere or earlier, or written to the file, is not in the note: tells every editor, for the person may
  /// look at any.
  func refusedForAll(_ key: NoteKey, _ text: RecoveredText, path: String) {
    guard phase == .running else { return service.recoveredTexts.tellSoon() }
    let uri = service.notebook[key]?.path.map(FileURI.uri(path:))
    let event = refusal(of: key, uri: uri, recovered: path)
    service.siblingEvents.tell(event)
    deliver(event)
    service.recoveredTexts.told(text)
  }

  private func refusal(of key: NoteKey, uri: String?, recovered: String) -> JSONValue {
    NoteNews.refused(recovered: recovered).parameters(
      uri: uri, id: key.document, title: service.notebook[key]?.title ?? title(of: key.document), peer: nil, name: nil)
  }

  /// The buffer is no longer a note, and becomes a plain file's.
  func detach(uri: String, _ reason: NoteNews.Reason) {
    if let left = leave(uri: uri, reason) { tell(left) }
  }

  /// Like `detach`, but the client is not told yet: that takes `tell`.
  func leave(uri: String, _ reason: NoteNews.Reason) -> LeftBuffer? {
    guard case .attached(let attachment)? = buffers[uri] else { return nil }
    let title = service.notebook[attachment.key]?.title ?? title(of: attachment.id)
    attachment.finishComparing()
    attachment.rememberLeftBuffer()
    attachment.detach()
    var plain = PlainBuffer(version: attachment.version, text: attachment.clientText)
    plain.wasAttached = true
    buffers[uri] = .plain(plain)
    return LeftBuffer(
      uri: uri,
      farewell: NoteNews.detached(reason).parameters(uri: uri, id: attachment.id, title: title, peer: nil, name: nil))
  }

  /// Tells the client that a buffer is a plain file's now.
  func tell(_ left: LeftBuffer) {
    guard case .plain(var plain)? = buffers[left.uri] else { return }
    plain.farewell = left.farewell
    buffers[left.uri] = .plain(plain)
    deliver(left.farewell)
  }
}

extension Service {
  /// Whether this person may change a document: a change that the host refuses is not made here.
  func mayWrite(_ id: DocumentId) -> Bool { sharing.access(to: id) == .write }
}
