import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that rename notes, put them away, restore them, and list recovered texts.
extension Editor {
  /// The title is text in the document; the file is renamed at once, or when no editor has it open any more.
  func rename(_ params: Parameters) async throws -> JSONValue {
    let title = try params.string("title").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw params.invalid("title", "must not be empty") }
    guard !title.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw params.invalid("title", "must be one line without control characters")
    }
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    return place(try await rename(record, to: title))
  }

  func rename(_ record: NoteRecord, to title: String) async throws -> NoteRecord {
    let handle = try await find(record.id)
    try service.checkMayWrite(record.id)
    if record.folder != nil, let meeting = MeetingDocument(handle.document) {
      try handle.change { _ in try meeting.rename(to: title) }
    } else {
      guard let note = NoteDocument(handle.document, item: record.item) else {
        throw NotesError(.notANote, "The document \(record.id) holds no text.")
      }
      try handle.change { _ in try note.rename(to: title) }
    }
    service.notebook.update(record.key) { ($0.title, $0.modified) = (title, service.clock.date) }
    try await service.notebook.save(record.key, withBase: false)
    try await service.caretaker.synchronize(handle)
    return service.notebook[record.key] ?? record
  }

  func delete(_ params: Parameters) async throws -> JSONValue {
    let isForEveryone = try params.boolIfPresent("forEveryone") ?? false
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let id = record.id
    let handle = try await find(id)
    await buffers.settleOpenings(of: id)
    if let item = record.item {
      try await deleteItem(item, of: handle)
      return [:]
    }
    if isForEveryone {
      try service.checkMayWrite(id)
      let date = service.clock.date
      try handle.change { document in try NoteDocument.setDeletion(date, of: document) }
      service.notebook.update(id) { $0.deletionSeen = date }
    }
    let reason: NoteNews.Reason = isForEveryone ? .deletedForEveryone : .deleted
    // The editor hears of the deletion when it is stored: then it survives a crash, and can be taken back.
    let left = buffers.attachments(of: id).compactMap { buffers.leave($0.uri, reason) }
    do {
      try await service.caretaker.putAway(handle)
    } catch {
      for buffer in left { FileURI.path(uri: buffer.uri).map(buffers.becameNote) }
      throw error
    }
    for buffer in left { buffers.tell(buffer) }
    let until = service.clock.date.addingTimeInterval(NoteRecord.recoverableTime)
    return ["recoverableUntil": .int(Int64(until.milliseconds))]
  }

  func undelete(_ params: Parameters) async throws -> JSONValue {
    let id = try documentId(try params.string("id"), params)
    guard service.notebook[id]?.deletedSince != nil else {
      throw NotesError(.notFound, "There is no deleted note \(id).")
    }
    let handle = try await find(id)
    service.notebook.update(id) { $0.deletedSince = nil }
    // A peer that gets the note from now on must not delete it; one that has already done so keeps it deleted.
    if service.mayWrite(id) { try handle.change { document in try NoteDocument.setDeletion(nil, of: document) } }
    if MeetingDocument(handle.document) != nil, NoteDocument(handle.document) == nil {
      return place(try await openMeeting(handle))
    }
    let title = service.notebook[id]?.title ?? NoteDocument(handle.document)?.title ?? FileName.untitled
    return place(try await writeWorkingFile(for: handle, title: title, directory: service.notesDirectory))
  }

  /// Permanently. Other people keep their copies.
  func purge(_ params: Parameters) async throws -> JSONValue {
    let id = try documentId(try params.string("id"), params)
    guard let record = service.notebook[id] else { throw NotesError(.notFound, "There is no note \(id).") }
    guard record.deletedSince != nil else {
      throw NotesError(.conflict, "\"\(record.title)\" is not deleted; only a deleted note can be removed for good.")
    }
    await endSharing(of: id, params)
    try await service.purge(id)
    // The buffers that stayed when it was deleted say that it can be restored.
    let event = NoteNews.detached(.purged).parameters(uri: nil, id: id, title: record.title, peer: nil, name: nil)
    service.siblingEvents.tell(event)
    if client.speaksNotes { deliver(event) }
    return [:]
  }

  /// Ends the sharing of a note: guests keep their copies, and a host hears that its guest is gone.
  private func endSharing(of id: DocumentId, _ params: Parameters) async {
    do {
      if try await legacyForward("notes/unshare", params) == nil { try await service.sharing.unshare(id, from: nil) }
    } catch {
      log.notice("Nobody was told that \(id) is removed here: \(error)")
    }
  }

  /// Every text that an overwrite would have lost, newest first, as files to look at.
  func recovered(_ params: Parameters) async throws -> JSONValue {
    let kept = try await service.repo.storage?.loadRange([RecoveredText.collection]) ?? []
    var texts: [JSONValue] = []
    for text in kept.compactMap(RecoveredText.init).sorted(by: { $0.time > $1.time }) {
      let title = service.notebook[text.id]?.title ?? text.id.description
      let path = RecoveredText.path(title: title, time: text.time, in: service.notesDirectory)
      _ = try await service.files.create(path, text.text)
      texts.append([
        "id": .string(text.id.description), "title": .string(title), "time": JSONValue(text.time),
        "reason": .string(text.reason), "path": .string(path),
      ])
    }
    return ["texts": .array(texts)]
  }
}
