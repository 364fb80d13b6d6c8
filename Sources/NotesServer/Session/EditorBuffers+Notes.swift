import AutomergeRepo

/// Buffers that become notes, stop being notes, or follow a note to another document.
extension EditorBuffers {
  // MARK: Becoming a note

  /// A buffer has just become a note's: its text is the document's.
  func attachAdopted(_ uri: String, _ handle: DocHandle, version: Int) throws(NotesError) {
    guard let note = NoteDocument(handle.document) else {
      throw NotesError(.notANote, "The document contains no text.")
    }
    let buffer = OpenBuffer(version: version, encoding: editor.client.encoding, gate: editor.client.gate)
    self[uri] = .attached(
      BufferBinding(uri: uri, handle: handle, note: note, buffer: buffer, splices: [], editor: editor))
  }

  /// The file has become a note's, through another request, another process or the network: its plain buffers become the note.
  /// A request that adopts the buffer itself does so before this runs.
  func becameNote(_ path: String) {
    for uri in plainURIs where service.notebook.folder.places(uri: uri).contains(path) {
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
    guard case .attached(let binding)? = self[uri] else { return nil }
    // A meeting is deleted as a whole, and restored by its own title.
    let key = reason == .itemDeleted ? binding.key : NoteKey(binding.id)
    let title = service.notebook[key]?.title ?? service.title(of: binding.id)
    binding.finishComparing()
    binding.rememberLeftBuffer()
    binding.detach()
    var plain = PlainBuffer(version: binding.version, text: binding.clientText)
    plain.wasAttached = true
    self[uri] = .plain(plain)
    return LeftBuffer(
      uri: uri,
      farewell: NoteNews.detached(reason).parameters(uri: uri, id: binding.id, title: title, peer: nil, name: nil))
  }

  /// Tells the client that a buffer is now a plain file's.
  func tell(_ left: LeftBuffer) {
    guard case .plain(var plain)? = self[left.uri] else { return }
    plain.farewell = left.farewell
    self[left.uri] = .plain(plain)
    editor.deliver(left.farewell)
  }

  /// An editor shows as a note a file that this service does not know, because the service was restarted, or because
  /// the note was deleted while it was being opened. Another process may be about to report it.
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

  /// How long other processes may take to report the notes that they know.
  private static let newsTime: Duration = .seconds(1)

  /// The editor shows a plain file as a note: tells it that the file is a plain one.
  func leftPlain(_ uri: String, _ plain: PlainBuffer, _ reason: NoteNews.Reason, _ record: NoteRecord? = nil) {
    guard editor.client.speaksNotes, let path = FileURI.path(uri: uri) else { return }
    let record = record ?? service.notebook.record(atURI: uri)
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
    for binding in bindings(of: old.id).sorted(by: { $0.uri < $1.uri }) {
      guard let note = NoteDocument(new.document, item: binding.note.item) else { continue }
      binding.finishComparing()
      let before = binding.source.allUTF8
      let (undo, uri) = (binding.undo.groups, binding.uri)
      binding.detach()
      var buffer = binding.buffer
      buffer.documentChanged(by: TextDiff.delta(from: before, to: DocumentText(note).allUTF8))
      let moved = BufferBinding(
        uri: uri, handle: new, note: note, buffer: buffer, splices: [], editor: editor)
      if !moved.undo.isLoading { moved.undo.groups = undo }
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
    // The first buffer of an item that follows brings what all of them typed into its former text.
    for binding in bindings(of: handle.id) { binding.finishComparing() }
    for binding in bindings(of: handle.id) {
      guard let item = binding.key.item else { continue }
      guard let note = byId[item].flatMap({ NoteDocument(handle.document, item: $0) }) else {
        let text = binding.clientText
        detach(binding.uri, .itemDeleted)
        if !text.isEmpty {
          let name = service.notebook[binding.key].map { "agenda item \"\($0.title)\"" } ?? "agenda item"
          service.recoveredTexts.keepSoon(
            binding.key, "its \(name) was deleted while it was open", text, isTold: editor.isRunning)
          service.recoveredTexts.kept(text, ofDeleted: binding.key)
        }
        continue
      }
      if note.content != binding.note.content { binding.follow(note) }
    }
    service.fileSync.agendas.tidy(meeting, items, handle)
  }

  /// Shows in open buffers of a note its present text, if a peer has replaced the text object or chosen another; turns
  /// the buffers into plain files' if there is none.
  func followText(of handle: DocHandle) {
    for binding in bindings(of: handle.id) where binding.key.item == nil && !binding.note.isCurrent {
      if let note = NoteDocument(handle.document) {
        binding.turn(to: note)
        continue
      }
      let text = binding.clientText
      detach(binding.uri, .textDeleted)
      guard !text.isEmpty else { continue }
      service.recoveredTexts.keepSoon(
        binding.key, "a peer deleted it while it was open", text, isTold: editor.isRunning)
    }
  }

  /// This person has a new name: it is entered in each document with the next edit.
  func personIsRenamed() {
    for binding in bindings { binding.hasEnteredName = false }
  }
}

extension NoteRecord {
  /// How the note was deleted; nil if it was not.
  var wayOfDeletion: NoteNews.Reason? {
    deletedSince == nil ? nil : deletionSeen == nil ? .deleted : .deletedForEveryone
  }
}
