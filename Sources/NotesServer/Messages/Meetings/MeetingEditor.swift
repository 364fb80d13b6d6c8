import AutomergeRepo

/// Changes the agenda of a meeting for a request.
@AutomergeRepo
struct MeetingEditor {
  private let editor: Editor
  let handle: DocHandle
  private var service: Service { editor.service }

  init(_ editor: Editor, _ handle: DocHandle) { (self.editor, self.handle) = (editor, handle) }

  /// The meeting that a request names, as a whole or by one of its items.
  init(_ editor: Editor, of reference: NoteReference) async throws {
    let record = try editor.note(reference)
    self.init(editor, try await editor.service.fetch(record.id))
    guard service.notebook[record.id]?.folder != nil, MeetingDocument(handle.document) != nil else {
      throw NotesError(.notANote, "Not a meeting: \"\(record.title)\"")
    }
  }

  var items: [ItemPlace] { ItemPlace.all(of: handle, service) }

  func insert(_ item: MeetingContent.Item, at position: Int) async throws {
    try service.checkMayWrite(handle.id)
    try change { meeting in try meeting.insert(item, at: position) }
    try await changed()
  }

  func move(_ id: String, to position: Int) async throws {
    try service.checkMayWrite(handle.id)
    let item = try item(id)
    try change { meeting in try meeting.move(item, to: position) }
    try await changed()
  }

  func delete(_ id: String) async throws {
    try service.checkMayWrite(handle.id)
    let item = try item(id)
    try handle.change { document in try MeetingDocument(document)?.delete(item) }
    try await changed()
  }

  private func item(_ id: String) throws(NotesError) -> MeetingDocument.Item {
    guard let item = MeetingDocument(handle.document)?.item(id) else { throw NotesError.noSuchItem }
    return item
  }

  /// Changes the agenda, after entering this person's name in the document.
  private func change(_ body: (MeetingDocument) throws -> Void) throws {
    try handle.change { document in
      try NoteDocument.enter(person: service.identity.person, name: service.identity.name, in: document)
      if let meeting = MeetingDocument(document) { try body(meeting) }
    }
  }

  private func changed() async throws {
    editor.buffers.followItems(of: handle)
    try await handle.flush()
    try await service.fileSync.synchronize(handle)
  }
}
