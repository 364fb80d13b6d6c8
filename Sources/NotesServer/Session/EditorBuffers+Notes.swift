import AutomergeRepo

/// Buffers that become notes, stop being notes, or follow a note to another document.
extension EditorBuffers {
  // MARK: Becoming a note

  /// A buffer that has just become a note: its text is the document's.
  func attachAdopted(_ uri: String, _ handle: DocHandle, version: Int) throws(NotesError) {
    guard let note = NoteDocument(handle.document) else { throw NotesError(.notANote, "The document holds no text.") }
    let buffer = OpenBuffer(version: version, encoding: editor.client.encoding, gate: editor.client.gate)
    self[uri] = .attached(
      Attachment(uri: uri, handle: handle, note: note, buffer: buffer, splices: [], editor: editor))
  }

  /// The file has become a note's, through another request, another process or the network: its plain buffers become the note.
  /// A request that adopts the buffer itself does so before this runs.
  func becameNote(_ path: String) {
    for uri in plainURIs where FileURI.path(uri: uri) == path {
      Task { @AutomergeRepo in
        guard editor.isRunning, case .plain(let plain)? = self[uri],
          let record = service.notebook.record(atPath: path)
        else { return }
        opener.open(record, at: path, uri: uri, plain, wasPlain: plain.farewell == nil && !plain.wasAttached)
      }
    }
  }

  // MARK: Becoming a plain file

  /// The buffer is no longer a note, and becomes a plain file's.
  func detach(_ uri: String, _ reason: NoteNews.Reason) {
    if let left = leave(uri, reason) { tell(left) }
  }

  /// Like `detach`, but the client is not told yet: that takes `tell`.
  func leave(_ uri: String, _ reason: NoteNews.Reason) -> LeftBuffer? {
    guard case .attached(let attachment)? = self[uri] else { return nil }
    let title = service.notebook[attachment.key]?.title ?? service.title(of: attachment.id)
    attachment.finishComparing()
    attachment.rememberLeftBuffer()
    attachment.detach()
    var plain = PlainBuffer(version: attachment.version, text: attachment.clientText)
    plain.wasAttached = true
    self[uri] = .plain(plain)
    return LeftBuffer(
      uri: uri,
      farewell: NoteNews.detached(reason).parameters(uri: uri, id: attachment.id, title: title, peer: nil, name: nil))
  }

  /// Tells the client that a buffer is a plain file's now.
  func tell(_ left: LeftBuffer) {
    guard case .plain(var plain)? = self[left.uri] else { return }
    plain.farewell = left.farewell
    self[left.uri] = .plain(plain)
    editor.deliver(left.farewell)
  }

  /// An editor shows as a note what this service does not know, having been restarted, or what was deleted while it was being
  /// opened. Another process may be about to tell of it.
  func tellUnlessFound(_ uri: String, _ id: DocumentId?) {
    guard editor.client.speaksNotes else { return }
    Task { @AutomergeRepo in
      await service.siblings.settle()
      _ = await service.clock.pause(for: Self.newsTime)
      guard editor.isRunning, case .plain(let plain)? = self[uri], plain.farewell == nil else { return }
      let record = id.flatMap { service.notebook[$0] }
      leftPlain(uri, plain, record?.wayOfDeletion ?? .notFound, record)
    }
  }

  /// How long other processes may take to tell what they know.
  private static let newsTime: Duration = .seconds(1)

  /// The editor shows a plain file as a note: from now on it shows what it is.
  func leftPlain(_ uri: String, _ plain: PlainBuffer, _ reason: NoteNews.Reason, _ record: NoteRecord? = nil) {
    guard editor.client.speaksNotes, let path = FileURI.path(uri: uri) else { return }
    let record = record ?? service.notebook.record(atPath: path)
    let title = record?.title ?? FileName.title(ofFile: path)
    let event = NoteNews.detached(reason).parameters(uri: uri, id: record?.id, title: title, peer: nil, name: nil)
    var plain = plain
    plain.farewell = event
    self[uri] = .plain(plain)
    editor.deliver(event)
  }

  // MARK: Following a note

  /// Shows the new document in open buffers of the old one. What the client has not seen of it is sent as an edit.
  func move(from old: DocHandle, to new: DocHandle) {
    for attachment in attachments(of: old.id).sorted(by: { $0.uri < $1.uri }) {
      guard let note = NoteDocument(new.document, item: attachment.note.item) else { continue }
      attachment.finishComparing()
      let before = attachment.source.allUTF8
      let (undo, uri) = (attachment.undo.groups, attachment.uri)
      attachment.detach()
      var buffer = attachment.buffer
      buffer.documentChanged(by: TextDiff.delta(from: before, to: DocumentText(note).allUTF8))
      let moved = Attachment(
        uri: uri, handle: new, note: note, buffer: buffer, splices: [], editor: editor)
      if moved.undo.loading == nil { moved.undo.groups = undo }
      self[uri] = .attached(moved)
      moved.updates.statusChanged()
    }
  }

  /// Attaches buffers of moved items to their new texts; turns those of deleted items into plain files'. If several people
  /// moved an item at the same moment, one copy stays.
  func followItems(of handle: DocHandle) {
    guard let meeting = MeetingDocument(handle.document) else { return }
    let items = meeting.items
    let byId = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
    for attachment in attachments(of: handle.id) {
      guard let item = attachment.key.item else { continue }
      guard let note = byId[item].flatMap({ NoteDocument(handle.document, item: $0) }) else {
        let text = attachment.clientText
        detach(attachment.uri, .itemDeleted)
        if !text.isEmpty {
          service.recoveredTexts.keepSoon(
            handle.id, "its agenda item was deleted while it was open", text, isTold: editor.isRunning)
          service.recoveredTexts.kept(text, ofDeleted: attachment.key)
        }
        continue
      }
      if note.content != attachment.note.content { attachment.follow(note) }
    }
    service.caretaker.tidyAgenda(meeting, items, handle)
  }

  /// This person has a new name: it is entered in each document with the next edit.
  func personIsRenamed() {
    for attachment in attachments { attachment.hasEnteredName = false }
  }
}

extension NoteRecord {
  /// Nil if the note is not deleted.
  fileprivate var wayOfDeletion: NoteNews.Reason? {
    deletedSince == nil ? nil : deletionSeen == nil ? .deleted : .deletedForEveryone
  }
}
