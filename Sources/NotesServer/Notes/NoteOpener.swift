import AutomergeRepo

/// Ensures that notes are here and have their working files.
@AutomergeRepo
struct NoteOpener {
  let service: Service

  /// Returns the note's successor if the note is moved meanwhile.
  func open(_ id: DocumentId) async throws -> NoteRecord {
    let record = try await openHere(id)
    let latest = service.notebook.latest(id)
    return latest == id ? record : try await open(latest)
  }

  private func openHere(_ id: DocumentId) async throws -> NoteRecord {
    let handle = try await service.fetch(id)
    // While the request was handled, the note was moved to another document, which now has the file.
    if let moved = service.notebook[id], moved.successor != nil { return moved }
    try undelete(handle)
    if !handle.document.isNoteOrMeeting { try await TextChoice(service: service).settle(handle) }
    if service.notebook[id]?.folder != nil || NoteDocument(handle.document) == nil {
      return try await openMeeting(handle)
    }
    if let record = service.notebook[id], let path = record.path {
      do {
        try await service.fileSync.synchronize(handle)
        try await service.fileSync.makeMissingFile(of: handle)
      } catch {
        // A full disk does not prevent opening the note: the buffer's status shows that it is not stored.
        guard case .found = try await service.files.look(path, since: nil) else { throw error }
        service.fileSync.planAgain(handle, error)
      }
      return service.notebook[id] ?? record
    }
    let title = NoteDocument(handle.document)?.title ?? "Note"
    return try await service.makeWorkingFile(for: handle, title: title, directory: service.notesDirectory)
  }

  /// A note that this person has deleted, and receives or opens again, is one of the notes again.
  func undelete(_ handle: DocHandle) throws {
    guard service.notebook[handle.id]?.deletedSince != nil else { return }
    service.notebook.update(handle.id) { $0.deletedSince = nil }
    // A peer that receives the note from now on must not delete it; one that has already done so keeps it deleted.
    if service.mayWrite(handle.id) {
      try handle.change { document in try NoteDocument.setDeletion(nil, of: document) }
    }
  }

  /// Ensures that every item of the meeting has its file, in a folder named after the meeting's title.
  func openMeeting(_ handle: DocHandle) async throws -> NoteRecord {
    guard let meeting = MeetingDocument(handle.document) else {
      throw NotesError(.notANote, "The document \(handle.id) contains no text.")
    }
    if !meeting.isComplete, service.mayWrite(handle.id) { try handle.change { _ in try meeting.complete() } }
    let title = meeting.title.isEmpty ? "Meeting" : meeting.title
    let now = service.clock.date
    var record =
      service.notebook[handle.id] ?? NoteRecord(id: handle.id, title: title, created: now, modified: now)
    if record.folder == nil {
      record.folder = try await service.fileSync.meetings.freeFolder(for: title, in: service.notesDirectory)
      record.deletedSince = nil
      // A record without its document would name a meeting that a restarted service cannot open.
      try await handle.flush()
      service.notebook.remember(record)
      try await service.notebook.save(handle.id, withBase: false)
    }
    service.fileSync.meetings.examineAll(of: handle.id)
    try await service.fileSync.synchronize(handle)
    return service.notebook[handle.id] ?? record
  }

  /// The item's place. Makes its file if there is none yet.
  func openItem(_ item: String, of handle: DocHandle) async throws -> NoteRecord {
    guard MeetingDocument(handle.document)?.item(item) != nil else { throw NotesError.noSuchItem }
    let key = NoteKey(handle.id, item: item)
    try await service.fileSync.meetings.makeFile(of: key, handle)
    guard let record = service.notebook[key] else {
      throw NotesError(.conflict, "Another process is creating this item's file; try again.")
    }
    return record
  }

  /// The place of a note that another person shares. Returns when the note is stored, so that it survives if the
  /// service is killed next.
  func placeOfArrival(_ id: DocumentId) async throws -> NotePlace {
    _ = try await service.fetchArrival(id)
    let record = try await open(id)
    let handle = try await service.fetch(id)
    if !handle.isStored { try await handle.flush() }
    await service.sharing.storeAdmission(to: id)
    return NotePlace(record, service)
  }
}

extension NotesError {
  static let noSuchItem = NotesError(.notFound, "This item is no longer in the agenda.")
}
